"""A real cluster for the tests of replacement that need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.thread.growing import EXAMPLE, cluster_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of their own: nodes of other tests would be replaced too."""
    with cluster_for("replacement") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster
