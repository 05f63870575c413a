"""Which metrics the processes can tell, read from the code that declares them.

Not from a scrape: a metric of a cloud that isn't used here would be missing.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES: Final = ("growth", "extender", "webhooks", "reconciler", "certs")
ENDINGS: Final = {
    "Counter": ("_total",),
    "CounterMetricFamily": ("_total",),
    "Gauge": ("",),
    "GaugeMetricFamily": ("",),
    "Histogram": ("_bucket", "_sum", "_count"),
    "Info": ("_info",),
}
OF_EVERY_PROCESS: Final = frozenset({"process_cpu_seconds_total", "process_resident_memory_bytes"})
"""From the client library's own collectors."""


@cache
def exported() -> frozenset[str]:
    """All names of series."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return OF_EVERY_PROCESS.union(name for path in files for name in _declared(path))


def _declared(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            endings = ENDINGS.get(_name_of(node.func), ())
            match node.args[0]:
                case ast.Constant(value=str(name)) if name.startswith("growth_"):
                    yield from (f"{name.removesuffix('_total')}{ending}" for ending in endings)
                case _:
                    pass


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
