"""A real cluster for the tests of replacement that need one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.live import bring_down, bring_up
from tests.thread.growing import EXAMPLE, install

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of their own: nodes of other tests would be replaced too."""
    name = f"growth-test-{os.getpid()}-replacement"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster
    finally:
        bring_down(name)
