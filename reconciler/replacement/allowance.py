"""How many nodes of a pool may be disrupted now, as its budgets say.

Of all the budgets that apply now, the smallest counts. Nodes that are disrupted already count
whatever the reason: for their pods it makes no difference. A budget with windows applies while one
of them is open, in UTC; a window belongs to the day on which it opens, and may reach into the next.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from growth.api.disruption import Consolidation, DisruptionReason, Weekday
from reconciler.core.decision import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.disruption import BudgetWindow, NodeDisruptionBudget
    from growth.api.nodepool import NodePool
    from growth.api.written import Portion
    from growth.instant import Instant

WEEKDAYS: Final = tuple(Weekday)
NEAR: Final = range(-1, 8)
"""Days from today in which the last and the next opening of every window lie: one may last a day,
and may come back once a week."""


def allowed_disruptions(
    pool: NodePool, reason: DisruptionReason, *, nodes: int, disrupted: int, now: Instant
) -> int:
    """How many more of a pool's `nodes` may be disrupted now."""
    disruption = pool.spec.disruption
    is_unwanted = disruption.consolidation is Consolidation.NEVER
    if is_unwanted and reason is DisruptionReason.CONSOLIDATION:
        return 0
    applying = (each for each in disruption.budgets if _applies(each, reason, now.wall))
    most = min((_most(each.nodes, nodes) for each in applying), default=nodes)
    return max(most - disrupted, 0)


def next_change(pool: NodePool, now: Instant) -> float:
    """The monotonic second at which the next window opens or closes; NEVER without windows."""
    windows = (each.window for each in pool.spec.disruption.budgets if each.window is not None)
    moments = (
        moment
        for window in windows
        for span in _spans(window, now.wall)
        for moment in span
        if moment > now.wall
    )
    change = min(moments, default=None)
    return NEVER if change is None else now.monotonic - now.seconds_since(change)


def _applies(budget: NodeDisruptionBudget, reason: DisruptionReason, wall: datetime) -> bool:
    is_meant = not budget.reasons or reason in budget.reasons
    return is_meant and (budget.window is None or _is_open(budget.window, wall))


def _most(portion: Portion, nodes: int) -> int:
    """A percentage is rounded up: 10% of three nodes is one, or a small pool could never change."""
    return portion.number if portion.unit == "nodes" else -(-nodes * portion.number // 100)


def _is_open(window: BudgetWindow, wall: datetime) -> bool:
    return any(opens <= wall < closes for opens, closes in _spans(window, wall))


def _spans(window: BudgetWindow, wall: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The occurrences of a window around now, each with its opening and closing."""
    start = datetime.combine(wall.date(), time.fromisoformat(window.start), wall.tzinfo)
    for days in NEAR:
        opens = start + timedelta(days=days)
        if not window.days or WEEKDAYS[opens.weekday()] in window.days:
            yield opens, opens + window.duration.timedelta
