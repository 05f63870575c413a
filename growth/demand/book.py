"""The demand book: which pods need a node now, updated with each event.

Its input is pods, pools and the scheduler's calls to the extender. It has an entry for each pod
that needs a node, or would need one but is on hold for a while. The work per event is small: the
pod itself, and the siblings that depend on it. Only pods without a node are kept.

The extender and the reconciler each keep a book with this code, from their own watches. The two
differ only in what the scheduler's calls show: that a pod fits on some node right now.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from growth.demand.detection import PodProgress
from growth.demand.entry import DemandEntry, EntryReason, State
from growth.demand.evidence import Evidence
from growth.demand.history import EntryChange, EntryChangeKind, History
from growth.demand.siblings import Siblings
from growth.demand.waiting import waiting
from growth.demand.wishes import Wishes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.demand.waiting import WaitingPod
    from growth.instant import Instant
    from growth.scheduling.pod import Pod


class Book:
    """Entries by uid, and their last changes."""

    def __init__(self, *, instance: str) -> None:
        """`instance` is part of each position, so that positions of other processes don't match."""
        self._waiting: dict[str, WaitingPod] = {}
        self._entries: dict[str, DemandEntry] = {}
        self._siblings = Siblings()
        self._wishes = Wishes()
        self._evidence = Evidence()
        self._history = History(instance=instance)

    @property
    def entries(self) -> Mapping[str, DemandEntry]:
        """All entries by uid, as a live view."""
        return MappingProxyType(self._entries)

    def version(self, uid: str) -> str | None:
        """The resource version of a pod that waits for a node; None if it doesn't."""
        pod = self._waiting.get(uid)
        return None if pod is None else pod.version

    @property
    def position(self) -> str:
        """The current position; each change moves it."""
        return self._history.position

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next hold ends."""
        return self._evidence.next_end

    def after(self, position: str) -> tuple[EntryChange, ...] | None:
        """The changes since a position; None if it is too old or of another book."""
        return self._history.after(position)

    def put(self, pod: Pod, now: Instant) -> None:
        """Handle a new or changed pod."""
        self.settle(now)
        new = waiting(pod)
        if new is None:
            self._leave(pod.metadata.uid, version=pod.metadata.resource_version, now=now)
        else:
            self._take_in(new, now)

    def remove(self, uid: str, now: Instant) -> None:
        """Handle a deleted pod."""
        self.settle(now)
        self._leave(uid, version=None, now=now)

    def pools(self, names: Iterable[str], now: Instant) -> None:
        """Set the pools that exist."""
        self.settle(now)
        self._write_all(self._wishes.exist(names), now)

    def feasible(self, uid: str, *, version: str, now: Instant) -> None:
        """Note that the scheduler has just found nodes that fit this version of the pod."""
        self.settle(now)
        self._judge_all(self._evidence.feasible(uid, version=version, now=now), now)

    def settle(self, now: Instant) -> None:
        """End the holds that have expired."""
        self._judge_all(self._evidence.ended(now), now)

    def _take_in(self, new: WaitingPod, now: Instant) -> None:
        old = self._waiting.get(new.uid)
        if old is not None and old.family != new.family:
            # A changed label is another shape, and so another family: the old one loses what this
            # pod told about it.
            self._write_all(self._siblings.leaves(old.uid, old.family), now)
        if old is not None and old.wish != new.wish:
            self._wishes.remove(old.uid, old.wish)
        self._waiting[new.uid] = new
        self._wishes.add(new.uid, new.wish)
        self._judge_all(self._evidence.follow(old, new, now), now)
        self._judge(new, now)

    def _leave(self, uid: str, *, version: str | None, now: Instant) -> None:
        self._evidence.forget(uid)
        gone = self._waiting.pop(uid, None)
        if gone is not None:
            self._wishes.remove(uid, gone.wish)
            self._strike(uid, version or gone.version)
            self._write_all(self._siblings.leaves(uid, gone.family), now)

    def _judge_all(self, uids: Iterable[str], now: Instant) -> None:
        for uid in uids:
            if uid in self._waiting:
                self._judge(self._waiting[uid], now)

    def _judge(self, pod: WaitingPod, now: Instant) -> None:
        """Update the entry of a pod, and those of the siblings that depend on it."""
        touched = self._file(pod)
        self._write(pod, now)
        self._write_all(touched, now)

    def _file(self, pod: WaitingPod) -> Iterable[str]:
        if pod.standing is PodProgress.UNREACHED:
            return self._siblings.waits(pod.uid, pod.family)
        if self._evidence.against(pod.uid) is None:
            return self._siblings.demands(pod.uid, pod.family)
        return self._siblings.leaves(pod.uid, pod.family)

    def _write_all(self, uids: Iterable[str], now: Instant) -> None:
        for uid in uids:
            self._write(self._waiting[uid], now)

    def _write(self, pod: WaitingPod, now: Instant) -> None:
        # A pod that the scheduler hasn't reached is demand only while one of its siblings is.
        inferred = pod.standing is PodProgress.UNREACHED
        if inferred and not self._siblings.infers(pod.family):
            self._strike(pod.uid, pod.version)
            return
        old = self._entries.get(pod.uid)
        new = self._entry(pod, old, now)
        if new != old:
            self._entries[pod.uid] = new
            self._history.add(
                EntryChange(EntryChangeKind.MODIFIED if old else EntryChangeKind.ADDED, new)
            )

    def _entry(self, pod: WaitingPod, old: DemandEntry | None, now: Instant) -> DemandEntry:
        # `since` is kept while the reason stays the same, so a new version of the pod doesn't
        # restart its waiting time.
        against = self._evidence.against(pod.uid)
        reason, since = against or (self._need(pod), now.wall)
        if not against and old is not None and old.reason == reason:
            since = old.since
        return DemandEntry(
            uid=pod.uid,
            namespace=pod.namespace,
            name=pod.name,
            resource_version=pod.version,
            state=State.HELD if against else State.DEMAND,
            reason=reason,
            since=since,
            inferred=pod.standing is PodProgress.UNREACHED,
        )

    def _need(self, pod: WaitingPod) -> EntryReason:
        if not self._wishes.is_served(pod.wish):
            return EntryReason.POOL_NOT_FOUND
        inferred = pod.standing is PodProgress.UNREACHED
        return EntryReason.SIBLING if inferred else EntryReason.UNSCHEDULABLE

    def _strike(self, uid: str, version: str) -> None:
        old = self._entries.pop(uid, None)
        if old is not None:
            last = msgspec.structs.replace(old, resource_version=version)
            self._history.add(EntryChange(EntryChangeKind.DELETED, last))
