"""What the tests of the service share."""

from __future__ import annotations

import io
import logging
import warnings
from typing import TYPE_CHECKING

import pytest
import structlog
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
    blockbuster.activate()
    yield
    blockbuster.deactivate()


@pytest.fixture(autouse=True)
def logging_stays_as_it_was() -> Iterator[None]:
    """A process owns its logging; here many follow each other in one."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, warnings.showwarning
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level, warnings.showwarning = before
    structlog.reset_defaults()


@pytest.fixture
def stream() -> io.StringIO:
    """Where a test lets the log go."""
    return io.StringIO()
