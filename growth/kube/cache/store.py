"""The cache of one kind: its objects as of the last event.

Only the reflector changes it. It applies and reports a batch of events or a complete list without
an `await` in between, so each reader sees a consistent state. Reading never waits.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Generic

from growth.kube.cache.contents import Change, ChangeKind, Contents, Unreadable, difference
from growth.kube.cache.own_writes import OwnWrites, has_missed
from growth.kube.cache.resource import Key, KubernetesObject, T, WatchedResource, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from growth.kube.cache.resource import Index


class Store(Generic[T]):
    """The objects of a kind by key, and by the indexes that are declared for the kind."""

    def __init__(
        self,
        resource: WatchedResource[T],
        *,
        own_write_seen: Callable[[float], None] = lambda _: None,
        own_write_noted: Callable[[], None] = lambda: None,
    ) -> None:
        self.resource = resource
        self.own = OwnWrites(state=self._state, seen=own_write_seen, noted=own_write_noted)
        self.position = ""
        """The resource version up to which all events have been applied."""
        self._contents = Contents(resource.indexes)

    def __len__(self) -> int:
        return len(self._contents.objects)

    @property
    def objects(self) -> Mapping[Key, T]:
        """All objects, as a live view that is replaced by the next list."""
        return MappingProxyType(self._contents.objects)

    @property
    def unreadable(self) -> Mapping[Key, Unreadable]:
        """Objects that exist but can't be decoded. Code that counts or removes must check them."""
        return MappingProxyType(self._contents.unreadable)

    def get(self, name: str, *, namespace: str = "") -> T | None:
        """One object, if it is in the cache."""
        return self._contents.objects.get(Key(namespace, name))

    def has_missed(self, found: T) -> bool:
        """Whether no event will tell what the server shows of this object: only a list can."""
        known, position = self._state(key_of(found))
        return has_missed(found, known, position=position)

    def by(self, index: Index[T], value: Hashable) -> Mapping[Key, T]:
        """The objects with a value in an index."""
        return MappingProxyType(self._contents.by(index, value))

    def values(self, index: Index[T]) -> Iterable[Hashable]:
        """The values for which an index has objects."""
        return self._contents.values(index)

    @property
    def contents(self) -> Contents[T]:
        """For the reflector: the known objects, to compare a new list with."""
        return self._contents

    def put(self, key: Key, obj: T) -> tuple[Change[T], ...]:
        """For the reflector: add or update an object."""
        changes = difference(key, self._contents.objects.get(key), obj)
        if changes:
            self._contents.put(key, obj)
        return changes

    def drop(self, key: Key) -> tuple[Change[T], ...]:
        """For the reflector: remove an object."""
        is_known = key in self._contents.objects or key in self._contents.unreadable
        old = self._contents.drop(key)
        # Also if it couldn't be decoded: consumers were told that it still exists.
        return (Change(ChangeKind.DELETED, key, old, None),) if is_known else ()

    def put_unreadable(self, unreadable: Unreadable) -> tuple[Change[T], ...]:
        """For the reflector: note an object that can't be decoded."""
        old = self._contents.put_unreadable(unreadable)
        return () if old is None else (Change(ChangeKind.UNREADABLE, unreadable.key, old, None),)

    def replace(self, contents: Contents[T], *, position: str) -> None:
        """For the reflector: replace all objects by those of a complete list."""
        self._contents = contents
        self.position = position

    def _state(self, key: Key) -> tuple[KubernetesObject | None, str]:
        return self._contents.objects.get(key), self.position
