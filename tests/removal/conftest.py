"""A real cluster for the tests of removal that need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.thread.growing import EXAMPLE, cluster_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster


@pytest.fixture(scope="package")
def growing() -> Iterator[LiveCluster]:
    """A cluster of their own: nodes of other tests would be given back too."""
    with cluster_for("removal") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster
