"""A run's decision in one sentence."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Final

from reconciler.scaling.utilisation.deciding import RunReason

if TYPE_CHECKING:
    from reconciler.scaling.utilisation.deciding import Run
    from reconciler.scaling.utilisation.group import Group
    from reconciler.scaling.utilisation.percent import Percent


def why_decided(run: Run, group: Group) -> str:
    """What was seen, and what is done about it."""
    done = ", ".join(_done(run)) or "nothing is changed"
    return f"{_reason(run, group)}: {done}"


_SEEN: Final = {
    RunReason.BLIND: "{problem}",
    RunReason.NOTHING_THERE: "the pool has no nodes and no pods",
    RunReason.BELOW_MINIMUM: "fewer than {least} nodes take pods",
    RunReason.NO_CAPACITY: "its nodes report no capacity",
    RunReason.LOCKED: "{used}, but machines are on their way",
    RunReason.ABOVE_THRESHOLD: "{used}, above {up} %",
    RunReason.BELOW_UPPER: "{used}, below {upper} %",
    RunReason.BELOW_LOWER: "{used}, below {lower} %",
    RunReason.WITHIN_THRESHOLDS: "{used}, from {upper} % to {up} %",
    RunReason.STARVED: "the largest pending pod fits on no node",
    RunReason.TOO_OLD: "a node is older than maxNodeAge",
    RunReason.ABOVE_MAXIMUM: "more than {most} nodes take pods",
    RunReason.UNHEALTHY: "too many of the newest nodes are unhealthy",
}


def _reason(run: Run, group: Group) -> str:
    if run.reason is RunReason.ABOVE_THRESHOLD and run.percent and isinf(run.percent.larger):
        return _used(run.percent)
    lower, upper, up = group.options.thresholds
    words = {"lower": lower, "upper": upper, "up": up, "used": _used(run.percent)}
    bounds = {"least": group.options.min_nodes, "most": group.options.max_nodes}
    return _SEEN[run.reason].format(**words, **bounds, problem=run.problem)


def _used(percent: Percent | None) -> str:
    if percent is None:
        return "utilisation isn't known"
    if isinf(percent.larger):
        return "pods wait and no node takes them"
    what = "CPU" if percent.cpu >= percent.memory else "memory"
    return f"{round(percent.larger)} % of {what} is requested"


def _done(run: Run) -> list[str]:
    parts = (
        (len(run.untaints), "used again"),
        (run.buys, "bought"),
        (len(run.taints), "tainted"),
        (len(run.drains), "drained"),
    )
    return [
        f"{number} {'node is' if number == 1 else 'nodes are'} {what}"
        for number, what in parts
        if number
    ]
