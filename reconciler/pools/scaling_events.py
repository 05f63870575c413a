"""Events about what a pool's scaling policy does, and about what it can't do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.scaling_status import ScalingStep, new_holds
from growth.kube.events.event import Severity
from reconciler.facts.events import EventAction, event_about

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import NodePoolStatus
    from growth.api.scaling_status import ScalingHold, ScalingStatus
    from reconciler.core.actions import EmitEvent

STEPS: Final = {ScalingStep.UP: "ScalingUp", ScalingStep.DOWN: "ScalingDown"}
WAITS: Final = frozenset({"Lock", "Cooldown", "Paused", "Blind"})
"""Holds that end by themselves, or that other events tell of."""
LIMITED: Final = "Limited"
"""The hold of a policy that can't buy what it wants."""


def scaling_events(pool: NodePool, after: NodePoolStatus) -> Iterator[EmitEvent]:
    """The events for what is new in the status of a policy."""
    before, now = pool.status.scaling, after.scaling
    if now is None:
        return
    if now.step in STEPS and (before is None or _deed(before) != _deed(now)):
        yield _told(pool, STEPS[now.step], now.message)
    told = [
        hold
        for hold in new_holds(before.holds if before else (), now.holds)
        if hold.reason not in WAITS
    ]
    # A pool may have many nodes that stay for the same reason, and each would be an event.
    for reason in dict.fromkeys(hold.reason for hold in told):
        yield _held(pool, [hold for hold in told if hold.reason == reason])


def _deed(status: ScalingStatus) -> tuple[object, ...]:
    return status.step, status.change, status.scaled_up_at, status.scaled_down_at


def _held(pool: NodePool, holds: Sequence[ScalingHold]) -> EmitEvent:
    """One event for all holds of one reason: the first, and how many others there are."""
    first, others = holds[0], len(holds) - 1
    name = "ScaleUpFailed" if first.reason == LIMITED else "ScaleDownBlocked"
    about = f"{first.node}: " if first.node else ""
    more = f" (and {others} more: {first.reason})" if others else ""
    note = f"{about}{first.message or first.reason}{more}"
    return _told(pool, name, note, severity=Severity.WARNING)


def _told(
    pool: NodePool, reason: str, note: str, *, severity: Severity = Severity.NORMAL
) -> EmitEvent:
    deciding = EventAction.DECIDING
    return event_about(pool, action=deciding, reason=reason, note=note, severity=severity)
