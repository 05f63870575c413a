"""Evidence against buying for a pod now: the scheduler has a place for it, or is making room.

There are two kinds. The scheduler calls extenders for a pod only if it has found nodes that fit;
and it nominates the node on which it makes room by preemption. Both may fail without a further
signal, so each puts the pod on hold only for a while. If the scheduler then reports the pod as
unschedulable, the hold ends at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.demand.detection import PodProgress
from growth.demand.entry import EntryReason
from growth.demand.holds import Holds
from growth.kube.versions import is_before

if TYPE_CHECKING:
    from datetime import datetime

    from growth.demand.waiting import WaitingPod
    from growth.instant import Instant

FEASIBLE_SECONDS: Final = 15.0
"""The longest time from the scheduler's call to the binding: the same as `bindWait`."""
NOMINATED_SECONDS: Final = 300.0
"""The longest time for preemption. After five minutes the scheduler retries a pod anyway; a
nomination that is still there hasn't helped, or is left over."""
RENEWED_AFTER: Final = 3.0
"""A hold that began less than this many seconds ago isn't renewed by a call about the same version
of the pod. Kubernetes 1.36 calls for the pods of a waiting group thousands of times a second, and
each renewal would be news to all readers of the book."""
MOST_HOLDS: Final = 20_000
"""More pods than a scheduler handles within one of these times."""


class Evidence:
    """Both kinds of holds. A hold may begin before its pod is known: our watch may be behind."""

    def __init__(self) -> None:
        self._feasible = Holds(seconds=FEASIBLE_SECONDS, most=MOST_HOLDS)
        self._nominated = Holds(seconds=NOMINATED_SECONDS, most=MOST_HOLDS)

    def __len__(self) -> int:
        return len(self._feasible) + len(self._nominated)

    def feasible(self, uid: str, *, version: str, now: Instant) -> tuple[str, ...]:
        """Note that the scheduler found nodes for a pod; returns the pods to judge again."""
        if self._is_fresh(uid, version=version, now=now):
            return ()
        return (*self._feasible.begin(uid, version=version, now=now), uid)

    def follow(self, old: WaitingPod | None, new: WaitingPod, now: Instant) -> tuple[str, ...]:
        """Handle a new version of a waiting pod; returns the other pods to judge again."""
        if self._has_given_up_since(old, new):
            self._feasible.end(new.uid)
        if new.standing is not PodProgress.NOMINATED:
            self._nominated.end(new.uid)
        elif old is None or old.nominated != new.nominated:
            return self._nominated.begin(new.uid, version=new.version, now=now)
        return ()

    def forget(self, uid: str) -> None:
        """Handle a pod that no longer waits."""
        self._feasible.end(uid)
        self._nominated.end(uid)

    def ended(self, now: Instant) -> tuple[str, ...]:
        """End the holds that have expired; returns the pods to judge again."""
        return self._feasible.ended(now) + self._nominated.ended(now)

    def against(self, uid: str) -> tuple[EntryReason, datetime] | None:
        """Why the pod is on hold and since when, or None."""
        if nominated := self._nominated.get(uid):
            return EntryReason.NOMINATED, nominated.begun.wall
        if feasible := self._feasible.get(uid):
            return EntryReason.FEASIBLE, feasible.begun.wall
        return None

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next hold ends."""
        return min(self._feasible.next_end, self._nominated.next_end)

    def _is_fresh(self, uid: str, *, version: str, now: Instant) -> bool:
        hold = self._feasible.get(uid)
        if hold is None or hold.version != version:
            return False
        return now.monotonic - hold.begun.monotonic < RENEWED_AFTER

    def _has_given_up_since(self, old: WaitingPod | None, new: WaitingPod) -> bool:
        """Whether the scheduler has reported the pod as unschedulable since the hold began."""
        # Only a changed condition in a later version is news. Other changes of the pod, and old
        # versions that our watch delivers late, must not end the hold.
        hold = self._feasible.get(new.uid)
        if hold is None or new.standing is not PodProgress.UNSCHEDULABLE:
            return False
        has_new_verdict = old is None or old.verdict != new.verdict
        return has_new_verdict and is_before(hold.version, new.version)
