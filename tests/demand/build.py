"""Pods as the book meets them, and moments to meet them at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from growth.demand.book import Book
from growth.instant import Instant
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.objects import Pod

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> Instant:
    return Instant(monotonic=seconds, wall=START + timedelta(seconds=seconds))


NOW = at(0)


def verdict(
    status: str = "False",
    reason: str = "Unschedulable",
    message: str = "",
    kind: str = "PodScheduled",
) -> dict[str, str]:
    """A condition as the scheduler writes it."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


def waiting(
    uid: str = "a",
    /,
    *,
    version: int = 1,
    owner: str = "",
    said: dict[str, str] | None = None,
    nominated: str = "",
    phase: str = "Pending",
    metadata: dict[str, Any] | None = None,
    **fields: Any,
) -> Pod:
    """A pod that the scheduler hasn't reached, unless it has said something."""
    identity: dict[str, Any] = {"uid": uid, "resourceVersion": str(version)}
    if owner:
        controller = {"kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
        identity["ownerReferences"] = [controller]
    status = {
        "phase": phase,
        "conditions": [said] if said else [],
        "nominatedNodeName": nominated,
    }
    return build.pod(f"pod-{uid}", metadata=identity | (metadata or {}), status=status, **fields)


def marked(uid: str = "a", /, **fields: Any) -> Pod:
    """A pod that the scheduler has given up on."""
    return waiting(uid, **{"said": verdict()} | fields)


def book(*pods: Pod, pools: tuple[str, ...] = ("default",), instance: str = "one") -> Book:
    made = Book(instance=instance)
    made.pools(pools, NOW)
    for pod in pods:
        made.put(pod, NOW)
    return made


def told(made: Book) -> dict[str, str]:
    """What the book says of each pod, in short: its reason."""
    return {uid: str(entry.reason) for uid, entry in made.entries.items()}
