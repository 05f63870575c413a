"""The simulated API server.

It has objects with uid, version and generation; writes with a version, which are refused if there
is a newer one; finalizers that delay deletion; dependents that are deleted with their owner; and
for each kind the events in order, from which a watch can continue while they are remembered.
"""

from __future__ import annotations

from collections import defaultdict, deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from growth.api.meta import CustomResource
from growth.kube.cache.resource import Key, KubernetesObject, key_of
from growth.kube.errors import AlreadyExists, Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.core.actions import Evict
    from reconciler.effects.eviction import EvictionRefusal
    from reconciler.simulation.timeline import Timeline
    from reconciler.simulation.trace import Trace

START = datetime(2026, 1, 1, tzinfo=UTC)
REMEMBERED_EVENTS = 2000
"""The number of events kept for each kind; a watch that is further behind must list."""
COLLECTED_AFTER = 0.5
"""Seconds until the dependents of a deleted object are deleted."""


class StoredChange(NamedTuple):
    """An object before and after a change, with the same uid."""

    version: int
    key: Key
    old: Any
    new: Any


class Precondition(NamedTuple):
    """The object that was decided on; empty fields aren't checked."""

    uid: str = ""
    version: str = ""


ANY = Precondition()


class StoredKind:
    """The objects of one kind."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.objects: dict[Key, Any] = {}
        self.events: deque[StoredChange] = deque(maxlen=REMEMBERED_EVENTS)
        self.heard_by: list[Callable[[StoredChange], None]] = []

    def named(self, name: str, *, namespace: str = "") -> Any:
        """One object, or None."""
        return self.objects.get(Key(namespace, name))

    def since(self, version: int) -> tuple[StoredChange, ...] | None:
        """The events after a version; None if they are no longer remembered."""
        if len(self.events) == REMEMBERED_EVENTS and self.events[0].version > version:
            return None
        return tuple(event for event in self.events if event.version > version)

    def as_of(self, version: int) -> dict[Key, Any]:
        """The objects at an earlier version, as far back as events are remembered."""
        objects = dict(self.objects)
        for event in reversed(self.events):
            if event.version <= version:
                break
            if event.old is None:
                objects.pop(event.key, None)
            else:
                objects[event.key] = event.old
        return objects


class SimulatedApiServer:
    """All kinds, and the writes to them."""

    def __init__(self, timeline: Timeline, trace: Trace) -> None:
        self.version = 0
        self._kinds: dict[str, StoredKind] = {}
        self._timeline = timeline
        self._trace = trace
        self._uids = 0
        self.evict: Callable[[Evict], EvictionRefusal | None] = lambda _: None
        """The eviction API, once it is set up."""
        self._dependents: defaultdict[str, dict[tuple[str, Key], None]] = defaultdict(dict)

    def kind(self, name: str) -> StoredKind:
        """The objects of a kind, which doesn't have to be declared."""
        if name not in self._kinds:
            self._kinds[name] = StoredKind(name)
        return self._kinds[name]

    @property
    def wall(self) -> datetime:
        """The server's own clock, which is never moved."""
        return START + timedelta(seconds=self._timeline.now)

    def create(self, kind: str, obj: KubernetesObject) -> Any:
        """Create an object."""
        key = key_of(obj)
        if key in self.kind(kind).objects:
            raise AlreadyExists(f"{kind} {key.name} exists")
        self._uids += 1
        made = with_metadata(
            obj,
            uid=obj.metadata.uid or f"{kind}-{self._uids}",
            generation=1,
            creation_timestamp=self._written_now(obj),
        )
        for owner in made.metadata.owner_references:
            self._dependents[owner.uid][kind, key] = None
        return self._store(kind, key, old=None, new=made)

    def change(
        self,
        kind: str,
        key: Key,
        changed: Callable[[Any], Any],
        *,
        on: Precondition = ANY,
    ) -> Any:
        """Change an object; the same state again is no event."""
        old = self._decided_on(kind, key, on)
        new = changed(old)
        if new is old:
            return old
        # As for kinds with a status subresource: neither status nor metadata raises the generation.
        if isinstance(new, CustomResource) and new.field("spec") is not old.spec:
            new = with_metadata(new, generation=old.metadata.generation + 1)
        if new.metadata.deletion_timestamp is not None and finalizers(old) and not finalizers(new):
            return self._remove(kind, key, old)
        return self._store(kind, key, old=old, new=new)

    def delete(self, kind: str, key: Key, *, on: Precondition = ANY) -> None:
        """Delete an object, or mark it for deletion while it has finalizers."""
        old = self._decided_on(kind, key, on)
        if not finalizers(old):
            self._remove(kind, key, old)
        elif old.metadata.deletion_timestamp is None:
            new = with_metadata(old, deletion_timestamp=self._written_now(old))
            self._store(kind, key, old=old, new=new)

    def _decided_on(self, kind: str, key: Key, on: Precondition) -> Any:
        old = self.kind(kind).objects.get(key)
        if old is None:
            raise NotFound(f"{kind} {key.name} is gone")
        if on.uid not in {"", old.metadata.uid}:
            raise Conflict(f"{kind} {key.name} is another object")
        if on.version not in {"", old.metadata.resource_version}:
            raise Conflict(f"{kind} {key.name} has changed")
        return old

    def _store(self, kind: str, key: Key, *, old: Any, new: Any) -> Any:
        self.version += 1
        new = with_metadata(new, resource_version=str(self.version))
        self.kind(kind).objects[key] = new
        self._trace.note(f"{kind} {key.name} {'added' if old is None else 'changed'}")
        self._tell(kind, StoredChange(self.version, key, old, new))
        return new

    def _remove(self, kind: str, key: Key, old: Any) -> Any:
        self.version += 1
        del self.kind(kind).objects[key]
        self._trace.note(f"{kind} {key.name} gone")
        for owner in old.metadata.owner_references:
            self._dependents[owner.uid].pop((kind, key), None)
        for dependent in self._dependents.pop(old.metadata.uid, {}):
            self._timeline.after(COLLECTED_AFTER, self._collect, *dependent)
        self._tell(kind, StoredChange(self.version, key, old, None))
        return old

    def _collect(self, kind: str, key: Key) -> None:
        if key in self.kind(kind).objects:
            self.delete(kind, key)

    def _tell(self, kind: str, event: StoredChange) -> None:
        of_kind = self.kind(kind)
        of_kind.events.append(event)
        # A copy: a listener may end its process, which then stops listening.
        for hear in tuple(of_kind.heard_by):
            hear(event)

    def _written_now(self, obj: KubernetesObject) -> Any:
        return self.wall if isinstance(obj, CustomResource) else self.wall.isoformat()


def finalizers(obj: KubernetesObject) -> tuple[str, ...]:
    """The finalizers of an object; built-in kinds are read without them."""
    held: tuple[str, ...] = getattr(obj.metadata, "finalizers", ())
    return held


def with_metadata(obj: Any, **changes: Any) -> Any:
    """The same object with other metadata."""
    if isinstance(obj, CustomResource):
        return obj.model_copy(update={"metadata": obj.metadata.model_copy(update=changes)})
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, **changes))
