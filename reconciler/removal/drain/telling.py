"""What people read of a drain, and what is read there again after a restart.

The removal's own history tells when the drain began and what was said of the pods in its way, so
that nobody has to remember it, and nothing is said all the time.
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
"""Seconds until people are told what is in the way."""
TOLD_AGAIN_AFTER: Final = 600.0
"""Seconds until they are told again, if it is something else by then."""
LONGEST: Final = 1024
"""As long as a removal's history takes it."""
NAMED: Final = 5
"""So many pods are named."""


def begun(removal: NodeRemovalRequest, node: Node, now: Instant) -> tuple[Action, ...]:
    """That the drain begins; nothing, if it was told."""
    if _last(removal, STARTED) is not None:
        return ()
    note = f"Its pods are moved away, then its machine is given back: {removal.spec.reason}."
    return (
        writing.patched(removal, now, event=STARTED, reason=None),
        writing.said_of(node, reason="DrainStarted", note=note),
    )


def emptied(removal: NodeRemovalRequest, now: Instant) -> tuple[Action, ...]:
    """That all pods are gone, where something else is waited for; nothing, if it was told."""
    if _last(removal, EMPTIED) is not None:
        return ()
    return (writing.patched(removal, now, event=EMPTIED, reason="Volumes are detached."),)


def empty_for(removal: NodeRemovalRequest, now: Instant) -> float:
    """Seconds since all pods were gone for the first time."""
    told = _last(removal, EMPTIED)
    return 0.0 if told is None else now.seconds_since(told.at)


def stuck(
    removal: NodeRemovalRequest, node: Node, pods: Mapping[str, str], now: Instant
) -> tuple[Action, ...]:
    """Which pods are in the way and why, unless that was told already."""
    told = _last(removal, STUCK)
    note = _named(pods)
    if not pods or (told is not None and told.reason == note):
        return ()
    return (
        writing.patched(removal, now, event=STUCK, reason=note),
        *_said(removal, node, reason="PodsStuck", note=note, severity=Severity.WARNING),
    )


def removal_given_up(removal: NodeRemovalRequest, node: Node, *, why: str) -> tuple[Action, ...]:
    """That the node stays."""
    severity = Severity.NORMAL
    return tuple(
        _said(removal, node, reason="DrainGivenUp", note=f"Stays: {why}.", severity=severity)
    )


def waited(removal: NodeRemovalRequest, now: Instant) -> float:
    """Seconds since the drain began."""
    began = _last(removal, STARTED)
    since = removal.metadata.creation_timestamp if began is None else began.at
    return 0.0 if since is None else now.seconds_since(since)


def waits(removal: NodeRemovalRequest, now: Instant) -> Iterator[float]:
    """Seconds until people may be told of what is in the way."""
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
