"""The cluster with admission in it, started once for the tests here that need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.webhooks.admitting import admitting as an_admitting_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.webhooks.admitting import Admitting


@pytest.fixture(scope="package")
def admitting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admitting]:
    """A cluster whose pods are admitted by the webhook, by the policy, by both or by nobody."""
    with an_admitting_cluster(tmp_path_factory.mktemp("webhook")) as setting:
        yield setting
