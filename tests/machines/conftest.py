"""One cluster and one growth for most stories; each has a pool of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.machines.needs import skip_where_missing
from tests.machines.sites import machine_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.machines.sites import MachineSite


@pytest.fixture(scope="package")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSite]:
    """From the first story to the last, where the files of this folder run one after the other."""
    skip_where_missing()
    with machine_site("machines", tmp_path_factory.mktemp("machines")) as place:
        yield place


@pytest.fixture
def place(shared_site: MachineSite) -> Iterator[MachineSite]:
    """The same, with no server and nothing wrong after a story."""
    yield shared_site
    shared_site.datacentre.is_as_usual()
    shared_site.ends()
