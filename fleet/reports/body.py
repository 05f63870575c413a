"""Reads the body of a report, leaf by leaf and in a fixed order.

The first leaf that is missing is named in the answer. Zero is a value; null is none. Unknown fields
are ignored, so that newer agents can say more.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from fleet.core.amounts import CapacityAmounts
from fleet.core.report import AgentCondition, AgentReport, ReportedNodes
from fleet.reports.refusal import ReportRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

AMOUNTS: Final = ("connections", "dataRetentionSize", "ingressEgressThroughputPerSec", "partitions")
LEAVES: Final = (
    *(f"nodeInfo.{name}" for name in ("ceiling", "current", "currentWorkLoadMinimum", "floor")),
    *(f"total.{name}" for name in AMOUNTS),
    *(f"remaining.{name}" for name in AMOUNTS),
    "resizeInfo.nodeDelta",
    *(f"resizeInfo.delta.{name}" for name in AMOUNTS),
)
"""All leaves that a report must have, in the order in which they are checked."""

INSTANCES: Final = "instances"
"""A leaf that agents of KAS don't have. A cluster whose agent doesn't send it is never empty."""

WRITTEN_AT: Final = "reportedAt"
"""Another one: with it, a report that was held up on its way doesn't undo what came after it."""

_TEXTS: Final = frozenset({"dataRetentionSize", "ingressEgressThroughputPerSec"})
_MAY_BE_NEGATIVE: Final = "remaining."
"""More may be in use than there should be."""
_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 256
_MOST_CONDITIONS: Final = 64


def report_in(body: bytes) -> AgentReport:
    """The report that a body of an HTTP request holds."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise ReportRefused("body", "must be JSON") from None
    if not isinstance(told, dict):
        raise ReportRefused("body", "must be an object")
    return _report(told)


def _report(told: dict[str, Any]) -> AgentReport:
    leaves = {path: _checked(path, _found(told, path)) for path in LEAVES}
    return AgentReport(
        conditions=tuple(_conditions(told.get("conditions"))),
        total=_amounts(leaves, "total"),
        remaining=_amounts(leaves, "remaining"),
        nodes=ReportedNodes(
            ceiling=leaves["nodeInfo.ceiling"],
            floor=leaves["nodeInfo.floor"],
            current=leaves["nodeInfo.current"],
            workload_minimum=leaves["nodeInfo.currentWorkLoadMinimum"],
        ),
        node_delta=leaves["resizeInfo.nodeDelta"],
        delta=_amounts(leaves, "resizeInfo.delta"),
        instances=_instances(told.get(INSTANCES)),
        written_at=_moment(told.get(WRITTEN_AT)),
    )


def _found(told: dict[str, Any], path: str) -> Any:
    value: Any = told
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        raise ReportRefused(path, "is missing")
    return value


def _checked(path: str, value: Any) -> Any:
    if path.rpartition(".")[2] in _TEXTS:
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise ReportRefused(path, f"must be a text of at most {_LONGEST} characters")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
        raise ReportRefused(path, "must be a whole number")
    if value < 0 and not path.startswith(_MAY_BE_NEGATIVE):
        raise ReportRefused(path, "must not be negative")
    return value


def _instances(value: Any) -> int | None:
    return None if value is None else int(_checked(INSTANCES, value))


def _moment(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ReportRefused(WRITTEN_AT, "must be a time, such as 2026-01-02T03:04:05Z") from None
    if moment.tzinfo is None:
        raise ReportRefused(WRITTEN_AT, "must have a time zone, such as Z")
    return moment


def _amounts(leaves: dict[str, Any], path: str) -> CapacityAmounts:
    return CapacityAmounts(
        connections=leaves[f"{path}.connections"], partitions=leaves[f"{path}.partitions"]
    )


def _conditions(told: Any) -> Iterator[AgentCondition]:
    conditions = [] if told is None else told
    if not isinstance(conditions, list) or len(conditions) > _MOST_CONDITIONS:
        raise ReportRefused("conditions", f"must be a list of at most {_MOST_CONDITIONS}")
    for each in conditions:
        yield _condition(each)


def _condition(told: Any) -> AgentCondition:
    if not isinstance(told, dict):
        raise ReportRefused("conditions", "each must be an object")
    texts = {name: told.get(name) or "" for name in ("type", "status", "reason", "message")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ReportRefused("conditions", "type, status, reason and message must be texts")
    return AgentCondition(**{name: text[:_LONGEST] for name, text in texts.items()})
