"""The events of a drain, and the history that growth reads again after a restart.

The removal's own history records when the drain began and what was reported about pods that block
it. So nothing has to be kept in memory, and nothing is reported over and over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.kube.events.event import Severity
from reconciler.removal import writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.events import RequestEvent
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action

STARTED: Final = "Drain started"
EMPTIED: Final = "Pods gone"
STUCK: Final = "Pods stuck"
STUCK_AFTER: Final = 60.0
"""Seconds from the start of the drain to the first event about pods that block it."""
TOLD_AGAIN_AFTER: Final = 600.0
"""Seconds until the next such event, if its text has changed."""
LONGEST: Final = 1024
"""The most characters of a reason in a removal's history."""
NAMED: Final = 5
"""How many pods an event names."""


def begun(removal: NodeRemovalRequest, node: Node, now: Instant) -> tuple[Action, ...]:
    """Reports that the drain begins, once."""
    if _last(removal, STARTED) is not None:
        return ()
    note = f"Its pods are evicted, then its machine is given back: {removal.spec.reason}."
    return (
        writing.patched(removal, now, event=STARTED, reason=None),
        writing.said_of(node, reason="DrainStarted", note=note),
    )


def emptied(removal: NodeRemovalRequest, now: Instant) -> tuple[Action, ...]:
    """Records once that all pods are gone while volumes are still attached."""
    if _last(removal, EMPTIED) is not None:
        return ()
    return (writing.patched(removal, now, event=EMPTIED, reason="Waiting for volumes to detach."),)


def empty_for(removal: NodeRemovalRequest, now: Instant) -> float:
    """Seconds since all pods were gone for the first time."""
    told = _last(removal, EMPTIED)
    return 0.0 if told is None else now.seconds_since(told.at)


def stuck(
    removal: NodeRemovalRequest, node: Node, pods: Mapping[str, str], now: Instant
) -> tuple[Action, ...]:
    """Reports which pods block the drain and why, unless the last report says the same."""
    told = _last(removal, STUCK)
    note = _named(pods)
    if not pods or (told is not None and told.reason == note):
        return ()
    return (
        writing.patched(removal, now, event=STUCK, reason=note),
        *_said(removal, node, reason="PodsStuck", note=note, severity=Severity.WARNING),
    )


def removal_given_up(removal: NodeRemovalRequest, node: Node, *, why: str) -> tuple[Action, ...]:
    """Reports that the node stays."""
    note, severity = f"The node stays: {why}.", Severity.NORMAL
    return tuple(_said(removal, node, reason="DrainGivenUp", note=note, severity=severity))


def waited(removal: NodeRemovalRequest, now: Instant) -> float:
    """Seconds since the drain began."""
    began = _last(removal, STARTED)
    since = removal.metadata.creation_timestamp if began is None else began.at
    return 0.0 if since is None else now.seconds_since(since)


def waits(removal: NodeRemovalRequest, now: Instant) -> Iterator[float]:
    """Seconds until the next event about blocking pods may be written."""
    told = _last(removal, STUCK)
    ends = [STUCK_AFTER - waited(removal, now)]
    ends += [] if told is None else [TOLD_AGAIN_AFTER - now.seconds_since(told.at)]
    return (end for end in ends if end > 0)


def _last(removal: NodeRemovalRequest, name: str) -> RequestEvent | None:
    found = (each for each in reversed(removal.status.events) if each.name == name)
    return next(found, None)


def _named(pods: Mapping[str, str]) -> str:
    words = [f"{name} ({why})" for name, why in pods.items()]
    rest = len(words) - NAMED
    told = "; ".join(words[:NAMED]) + (f"; and {rest} more" if rest > 0 else "")
    return told[:LONGEST]


def _said(
    removal: NodeRemovalRequest, node: Node, *, reason: str, note: str, severity: Severity
) -> Iterator[Action]:
    yield writing.said_of(removal, reason=reason, note=note, severity=severity)
    yield writing.said_of(node, reason=reason, note=note, severity=severity)
