"""What speaks against buying for a pod right now: the scheduler has, or makes, a place for it.

Two things are known. It asks extenders about a pod only when it has found nodes that fit it; and it
writes down the node on which it makes room by preemption. Either may come to nothing without a
word, so each holds the pod's demand back for a while only. Where the scheduler gives up on the pod
afterwards, the hold ends at once.
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
"""How long it may take from the scheduler's asking to the binding: as long as `bindWait`."""
NOMINATED_SECONDS: Final = 300.0
"""How long room may be made for a pod. After five minutes the scheduler itself looks again at a pod
that nothing happens to; a nomination that is still there has not helped, or is a leftover."""
MOST_HOLDS: Final = 20_000
"""More than a scheduler asks about within one of these spans."""


class Evidence:
    """Both sorts of holds. It may be known before the pod: schedulers can be ahead of a watch."""

    def __init__(self) -> None:
        self._feasible = Holds(seconds=FEASIBLE_SECONDS, most=MOST_HOLDS)
        self._nominated = Holds(seconds=NOMINATED_SECONDS, most=MOST_HOLDS)

    def __len__(self) -> int:
        return len(self._feasible) + len(self._nominated)

    def feasible(self, uid: str, *, version: str, now: Instant) -> tuple[str, ...]:
        """The scheduler has asked about nodes for it; the answer are those judged anew."""
        return (*self._feasible.begin(uid, version=version, now=now), uid)

    def follow(self, old: WaitingPod | None, new: WaitingPod, now: Instant) -> tuple[str, ...]:
        """A pod waits in this version; the answer are others that are judged anew."""
        if self._has_given_up_since(old, new):
            self._feasible.end(new.uid)
        if new.standing is not PodProgress.NOMINATED:
            self._nominated.end(new.uid)
        elif old is None or old.nominated != new.nominated:
            return self._nominated.begin(new.uid, version=new.version, now=now)
        return ()

    def forget(self, uid: str) -> None:
        """The pod doesn't wait any more."""
        self._feasible.end(uid)
        self._nominated.end(uid)

    def ended(self, now: Instant) -> tuple[str, ...]:
        """Ends what has lasted long enough; the answer are those judged anew."""
        return self._feasible.ended(now) + self._nominated.ended(now)

    def against(self, uid: str) -> tuple[EntryReason, datetime] | None:
        """Why the pod's demand is held back, and since when."""
        if nominated := self._nominated.get(uid):
            return EntryReason.NOMINATED, nominated.begun.wall
        if feasible := self._feasible.get(uid):
            return EntryReason.FEASIBLE, feasible.begun.wall
        return None

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next hold ends."""
        return min(self._feasible.next_end, self._nominated.next_end)

    def _has_given_up_since(self, old: WaitingPod | None, new: WaitingPod) -> bool:
        """A version that brings other things, or that our watch brings late, says nothing new."""
        hold = self._feasible.get(new.uid)
        if hold is None or new.standing is not PodProgress.UNSCHEDULABLE:
            return False
        has_new_verdict = old is None or old.verdict != new.verdict
        return has_new_verdict and is_before(hold.version, new.version)
