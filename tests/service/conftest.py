"""What the tests of the service share."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from blockbuster import BlockBuster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop() -> Iterator[None]:
    """A call that blocks the event loop fails the test that made it."""
    blockbuster = BlockBuster()
    # /proc lies in memory: reading it waits for nobody.
    for function in blockbuster.functions.values():
        function.can_block_in("process_collector.py", "collect")
        # It runs in a thread, with an event loop that serves nothing else.
        function.can_block_in("growth/kube/kubeconfig.py", "_load")
    blockbuster.activate()
    yield
    blockbuster.deactivate()


@pytest.fixture
def stream() -> io.StringIO:
    """Where a test lets the log go."""
    return io.StringIO()
