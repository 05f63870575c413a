"""docs/reference/metrics.md, generated from the code that declares metrics.

It is generated from the source and not from a scrape, which would lack the metrics of unused
providers and of processes that don't lead. So each name, meaning and label must be in the call that
declares the metric, or in a tuple in the same file.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from generators.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = {
    "growth/service": "all",
    "growth/kube/election": "reconciler",
    "growth/kube": "all",
    "extender": "extender",
    "webhooks": "webhooks",
    "reconciler": "reconciler",
    "certs": "certs",
    "fleet": "fleet",
    "sizing": "sizing",
}
"""Where metrics are declared, and which process reports them; the first match counts."""


class _Sort(NamedTuple):
    word: str
    endings: tuple[str, ...]


_SORTS: Final = {
    "Counter": _Sort("counter", ("_total",)),
    "CounterMetricFamily": _Sort("counter", ("_total",)),
    "Gauge": _Sort("gauge", ("",)),
    "GaugeMetricFamily": _Sort("gauge", ("",)),
    "Histogram": _Sort("histogram", ("_bucket", "_sum", "_count")),
    "Info": _Sort("info", ("_info",)),
}
_PREFACE: Final = """\
# Metrics

Generated from the code by `make crds`. Each process reports its metrics at `/metrics`, on the port
of its setting `--metrics-address`; `--metrics-access` says who can read them. A histogram has
`_bucket`, `_sum` and `_count`. Money is in the provider's currency. Only the leading reconciler
reports the cluster's state (demand, pools, requests). No metric has a pod or a machine in its
labels.

The standard metrics of the client library (`process_*`, `python_gc_*`) are reported too. Alerts are
in [manifests/alerts](../../manifests/alerts), their [runbooks](../runbooks) in the documentation,
and a Grafana dashboard in [manifests/dashboards](../../manifests/dashboards).
"""
_HEADS: Final = {
    "all": "All processes",
    "webhooks": "Webhooks",
    "extender": "Extender",
    "reconciler": "Reconciler",
    "certs": "Certificates",
    "fleet": "Fleets",
    "sizing": "Sizes of workloads",
}


class DeclaredMetric(NamedTuple):
    """One metric, as declared."""

    process: str
    name: str
    sort: str
    labels: tuple[str, ...]
    meaning: str
    series: tuple[str, ...]
    """The names of its samples."""


@cache
def declared_metrics() -> tuple[DeclaredMetric, ...]:
    """All metrics of all processes, by process and name."""
    seen: dict[Path, str] = {}
    for folder, process in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            seen.setdefault(path, process)
    found = {each for path, process in seen.items() for each in _of_file(path, process)}
    return tuple(sorted(found))


def _of_file(path: Path, process: str) -> Iterator[DeclaredMetric]:
    tree = ast.parse(path.read_text("utf-8"))
    tuples = dict(_tuples(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (sort := _SORTS.get(_called(node.func))):
            words = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            if len(words) == 2 and str(words[0]).startswith("growth_"):
                yield _declared(node, sort, process, tuples)


def _declared(
    call: ast.Call, sort: _Sort, process: str, tuples: dict[str, tuple[str, ...]]
) -> DeclaredMetric:
    name, meaning = (str(each.value) for each in call.args[:2] if isinstance(each, ast.Constant))
    name = name.removesuffix("_total")
    return DeclaredMetric(
        process=process,
        name=name if len(sort.endings) > 1 else f"{name}{sort.endings[0]}",
        sort=sort.word,
        labels=_labels(call, tuples),
        meaning=meaning,
        series=tuple(f"{name}{ending}" for ending in sort.endings),
    )


def _labels(call: ast.Call, tuples: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    given = [each.value for each in call.keywords if each.arg in {"labels", "labelnames"}]
    return next((_spelled(each, tuples) for each in [*call.args[2:3], *given]), ())


def _spelled(node: ast.expr, tuples: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(word for part in parts for word in _spelled(part, tuples))
        case ast.Starred(value=value):
            return _spelled(value, tuples)
        case ast.Name(id=name):
            return tuples[name]
        case ast.Constant(value=str(word)):
            return (word,)
        case _:
            raise ValueError(f"labels have to be written out, line {node.lineno}")


def _tuples(tree: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple(elts=parts)):
                words = [each.value for each in parts if isinstance(each, ast.Constant)]
                yield name, tuple(str(word) for word in words)
            case _:
                pass


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def metrics_page() -> str:
    """The whole page."""
    parts = (f"## {head}\n\n{_table(process)}" for process, head in _HEADS.items())
    return "\n".join([_PREFACE, *parts])


def _table(process: str) -> str:
    rows = (
        (f"`{each.name}`", each.sort, ", ".join(f"`{one}`" for one in each.labels), each.meaning)
        for each in declared_metrics()
        if each.process == process
    )
    return markdown_table(("Metric", "Type", "Labels", "Meaning"), rows)
