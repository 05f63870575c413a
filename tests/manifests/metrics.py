"""Which series the processes can tell, read from the code that declares them."""

from __future__ import annotations

from functools import cache
from typing import Final

from generators.metrics import declared_metrics

OF_EVERY_PROCESS: Final = frozenset({"process_cpu_seconds_total", "process_resident_memory_bytes"})
"""From the client library's own collectors."""


@cache
def exported() -> frozenset[str]:
    """All names of series."""
    return OF_EVERY_PROCESS.union(series for each in declared_metrics() for series in each.series)
