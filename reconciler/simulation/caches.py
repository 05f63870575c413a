"""The caches of one simulated process: what it knows, which is always a little of the past.

Each kind has its own watch. Events of a watch come in their order and after a lag of its own; a
watch can break, and then goes on from the version it reached or takes in a whole list and tells the
difference. It never accepts a state older than one that it has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube.cache.contents import Change, ChangeKind, difference, uids_of_deleted
from growth.kube.cache.health import CacheHealth, suspicion_of
from growth.kube.cache.own_writes import OwnCreate, has_missed
from growth.kube.cache.resource import key_of
from reconciler.simulation.faults import SimulatedFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from growth.kube.cache.own_writes import Unseen
    from growth.kube.cache.resource import Key
    from reconciler.simulation.chance import Chance
    from reconciler.simulation.server import StoredChange, StoredKind
    from reconciler.simulation.surroundings import Surroundings

USUAL_LAG = (0.001, 0.005)
LIST_TAKES = 0.05
ASKS_AGAIN = 1.0
"""Seconds until a watch that was refused tries again."""
CONFIRMS_AFTER = 10.0
"""Seconds until a suspicious list gets its second opinion."""
LOST_AT_MOST = 240.0
"""Seconds until a list shows what an event did not tell."""
NO_EVENT_PROBABILITY = 0.01


class Cache:
    """One kind, as one process knows it."""

    def __init__(
        self,
        kind: StoredKind,
        around: Surroundings,
        *,
        chance: Chance,
        take: Callable[[str, Sequence[Change[Any]]], None],
        arrive: Callable[..., None],
    ) -> None:
        self.kind = kind
        self.objects: dict[Key, Any] = {}
        self.position = 0
        """The version up to which everything is known."""
        self.health = CacheHealth(blind_since=around.timeline.now)
        self.lag = 0.0
        """Seconds that events come late, beyond the usual."""
        self.behind_until = 0.0
        """Until when the server that this watch is connected to lacks the newest minutes."""
        self.unseen: dict[Key, Unseen] = {}
        """Our own last writes that haven't come back yet."""
        self._server = around.server
        self._timeline = around.timeline
        self._faults = around.faults
        self._chance = chance
        self._take = take
        self._arrive = arrive
        self._connection = 0
        self._is_connected = False
        self._last_arrival = 0.0
        self._needs_list = True
        self._stale_version = 0
        kind.heard_by.append(self._hear)

    def close(self) -> None:
        """The end of the process."""
        self.kind.heard_by.remove(self._hear)

    def connect(self) -> None:
        """List or go on, after the time that it takes."""
        self._timeline.after(LIST_TAKES, self._arrive, self._connected, self._connection)

    def cut(self, *, seconds: float, needs_list: bool) -> None:
        """The watch breaks, and is made anew after some time."""
        self._connection += 1
        self._is_connected = False
        self._needs_list = self._needs_list or needs_list
        self._note(blind_since=self._timeline.now, problem="the watch is lost")
        self._timeline.after(seconds, self._arrive, self._connected, self._connection)

    def falls_behind(self, *, seconds: float, versions: int) -> None:
        """The watch comes back at a server that lacks the newest versions for some time."""
        self.behind_until = self._timeline.now + seconds
        self._stale_version = max(0, self.position - versions)
        self.cut(seconds=ASKS_AGAIN, needs_list=True)

    def accepts(self, version: int) -> bool:
        """Whether a state of this version may be believed: time never goes back unnoticed."""
        return version >= self.position

    def note(self, key: Key, write: Unseen) -> None:
        """A write of ours was confirmed: nothing is decided on the object before it is seen."""
        if not self._is_seen(key, write):
            self.unseen[key] = write
            self._look_for_overtaken()

    def is_overtaken(self, key: Key) -> bool:
        """Whether only a list can show this object, which the server says is there."""
        write = self.unseen.get(key)
        return isinstance(write, OwnCreate) and write.is_overtaken(position=str(self.position))

    def has_missed(self, found: Any) -> bool:
        """Whether no event will tell what the server shows of this object: only a list can."""
        known = self.objects.get(key_of(found))
        return has_missed(found, known, position=str(self.position))

    def relist(self) -> None:
        """Ask for a list of the newest state; events go on until it comes."""
        if self._is_connected and not self._needs_list:
            self.connect()
        self._needs_list = True

    def _hear(self, event: StoredChange) -> None:
        if not self._is_connected or self._timeline.now < self.behind_until:
            return
        if self._faults.strikes(SimulatedFault.EVENT_LOST, NO_EVENT_PROBABILITY):
            wait = self._faults.chance(SimulatedFault.EVENT_LOST).between(1.0, LOST_AT_MOST)
            self._timeline.after(wait, self._arrive, self._miss, self._connection)
            return
        lag = self._chance.between(*USUAL_LAG) + self.lag
        self._last_arrival = max(self._last_arrival, self._timeline.now + lag)
        self._timeline.at(
            self._last_arrival, self._arrive, self._event_came, event, self._connection
        )

    def _miss(self, connection: int) -> None:
        if connection == self._connection:
            self.cut(seconds=0.0, needs_list=True)
        else:
            # It may have gone on from its version meanwhile, which tells nothing of what is past.
            self.relist()

    def _event_came(self, event: StoredChange, connection: int) -> None:
        if connection == self._connection:
            self._apply((event,))

    def _connected(self, connection: int) -> None:
        if connection != self._connection:
            return
        if self._timeline.now < self.behind_until and not self._goes_back():
            self._timeline.after(ASKS_AGAIN, self._arrive, self._connected, connection)
            return
        missed = None if self._needs_list else self.kind.since(self.position)
        if self._timeline.now >= self.behind_until:
            self._is_connected = True
            if missed is None:
                # It shows everything that was confirmed until now.
                self.unseen.clear()
                self._adopt(self.kind.objects, version=self._server.version)
            else:
                self._note(blind_since=None, problem="")
                self._apply(missed)

    def _goes_back(self) -> bool:
        """At a server that is behind: whether its state is believed. Then it is listed again."""
        if not self.accepts(self._stale_version):
            return False
        self._adopt(self.kind.as_of(self._stale_version), version=self._stale_version)
        left = max(ASKS_AGAIN, self.behind_until - self._timeline.now)
        self._needs_list = True
        self._timeline.after(left, self._arrive, self._connected, self._connection)
        return True

    def _adopt(self, found: Mapping[Key, Any], *, version: int) -> None:
        """A whole list takes the place of what was known."""
        found = self._without_some(found)
        suspicion = suspicion_of(known=len(self.objects), found=len(found), is_older=False)
        changes = tuple(self._differences(found))
        self.objects = dict(found)
        self.position = version
        self._needs_list = False
        self._note(
            is_complete=True,
            blind_since=None,
            problem="",
            suspicion=suspicion,
            listed_at=self._timeline.now,
            lists=self.health.lists + 1,
        )
        if suspicion is not None:
            self._timeline.after(CONFIRMS_AFTER, self._arrive, self._confirm, self._connection)
        self._tell(changes)

    def _without_some(self, found: Mapping[Key, Any]) -> Mapping[Key, Any]:
        if self.kind.name != "pods" or not self._faults.strikes(SimulatedFault.PODS_MISSING, 0.5):
            return found
        chance = self._faults.chance(SimulatedFault.PODS_MISSING)
        wait = chance.between(100.0, LOST_AT_MOST)
        self._timeline.after(wait, self._arrive, self._miss, self._connection)
        return dict(list(found.items())[::2]) if chance.happens(0.5) else {}

    def _confirm(self, connection: int) -> None:
        if connection == self._connection and self._is_connected:
            self.relist()

    def _differences(self, found: Mapping[Key, Any]) -> Iterator[Change[Any]]:
        for key, known in self.objects.items():
            if key not in found:
                yield Change(ChangeKind.DELETED, key, known, None)
        for key, new in found.items():
            yield from difference(key, self.objects.get(key), new)

    def _apply(self, events: Sequence[StoredChange]) -> None:
        changes: list[Change[Any]] = []
        for event in events:
            if event.version <= self.position:
                continue
            self.position = event.version
            changes.extend(self._change(event))
        self._tell(tuple(changes))

    def _change(self, event: StoredChange) -> tuple[Change[Any], ...]:
        old = self.objects.get(event.key)
        if event.new is not None:
            self.objects[event.key] = event.new
            return difference(event.key, old, event.new)
        if old is None:
            return ()
        del self.objects[event.key]
        return (Change(ChangeKind.DELETED, event.key, old, None),)

    def _tell(self, changes: tuple[Change[Any], ...]) -> None:
        gone = uids_of_deleted(changes)
        for key, write in tuple(self.unseen.items()):
            if write.uid in gone or self._is_seen(key, write):
                del self.unseen[key]
        self._look_for_overtaken()
        self._take(self.kind.name, changes)

    def _look_for_overtaken(self) -> None:
        if any(map(self.is_overtaken, self.unseen)):
            self.relist()

    def _is_seen(self, key: Key, write: Unseen) -> bool:
        return write.is_seen(self.objects.get(key), position=str(self.position))

    def _note(self, **changes: Any) -> None:
        self.health = msgspec.structs.replace(self.health, **changes)
