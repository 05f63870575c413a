"""The caches of a simulated process, which are always a little behind the API server.

Each kind has its own watch. Its events arrive in order, with a lag. If a watch breaks, it continues
from its last version, or reads a complete list and reports the differences. It never accepts an
older state than it has seen.
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
"""Seconds until a refused watch tries again."""
CONFIRMS_AFTER = 10.0
"""Seconds until a suspicious list is checked by a second one."""
LOST_AT_MOST = 240.0
"""The longest time in seconds until a list shows a lost event."""
NO_EVENT_PROBABILITY = 0.01


class Cache:
    """The cache of one kind in one process."""

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
        """The version up to which all events have been applied."""
        self.health = CacheHealth(blind_since=around.timeline.now)
        self.lag = 0.0
        """Additional lag of events in seconds."""
        self.behind_until = 0.0
        """The time until which the server of this watch lags behind."""
        self.unseen: dict[Key, Unseen] = {}
        """Our own last writes that the cache hasn't seen yet."""
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
        """Stop listening, at the end of the process."""
        self.kind.heard_by.remove(self._hear)

    def connect(self) -> None:
        """Read a list or continue the watch, after the time that this takes."""
        self._timeline.after(LIST_TAKES, self._arrive, self._connected, self._connection)

    def cut(self, *, seconds: float, needs_list: bool) -> None:
        """Break the watch, and reconnect after some time."""
        self._connection += 1
        self._is_connected = False
        self._needs_list = self._needs_list or needs_list
        self._note(blind_since=self._timeline.now, problem="the watch is lost")
        self._timeline.after(seconds, self._arrive, self._connected, self._connection)

    def falls_behind(self, *, seconds: float, versions: int) -> None:
        """Break the watch, and reconnect to a server that is behind for some time."""
        self.behind_until = self._timeline.now + seconds
        self._stale_version = max(0, self.position - versions)
        self.cut(seconds=ASKS_AGAIN, needs_list=True)

    def accepts(self, version: int) -> bool:
        """Whether a state of this version may be used; the cache never goes back in time."""
        return version >= self.position

    def note(self, key: Key, write: Unseen) -> None:
        """Note a confirmed write; nothing is decided on the object until the cache has seen it."""
        if not self._is_seen(key, write):
            self.unseen[key] = write
            self._look_for_overtaken()

    def is_overtaken(self, key: Key) -> bool:
        """Whether we created this object and only a list can show it."""
        write = self.unseen.get(key)
        return isinstance(write, OwnCreate) and write.is_overtaken(position=str(self.position))

    def has_missed(self, found: Any) -> bool:
        """Whether the cache has missed this state of an object, so that only a list can show it."""
        known = self.objects.get(key_of(found))
        return has_missed(found, known, position=str(self.position))

    def relist(self) -> None:
        """Request a list of the newest state; events continue meanwhile."""
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
        # A watch keeps its order: an event with less lag waits for the one before it.
        self._last_arrival = max(self._last_arrival, self._timeline.now + lag)
        self._timeline.at(
            self._last_arrival, self._arrive, self._event_came, event, self._connection
        )

    def _miss(self, connection: int) -> None:
        if connection == self._connection:
            self.cut(seconds=0.0, needs_list=True)
        else:
            # The watch may have continued from its version meanwhile, without the lost event.
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
                # The list includes all writes that were confirmed until now.
                self.unseen.clear()
                self._adopt(self.kind.objects, version=self._server.version)
            else:
                self._note(blind_since=None, problem="")
                self._apply(missed)

    def _goes_back(self) -> bool:
        """Whether the state of a server that is behind is used; then another list follows."""
        if not self.accepts(self._stale_version):
            return False
        self._adopt(self.kind.as_of(self._stale_version), version=self._stale_version)
        left = max(ASKS_AGAIN, self.behind_until - self._timeline.now)
        self._needs_list = True
        self._timeline.after(left, self._arrive, self._connected, self._connection)
        return True

    def _adopt(self, found: Mapping[Key, Any], *, version: int) -> None:
        """Replace all known objects by a complete list."""
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
            # A list has overtaken events that were on their way.
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
