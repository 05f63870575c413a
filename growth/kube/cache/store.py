"""The cache of one kind: what the API server holds, as far as its events have told us.

It changes in one place only, the reflector, and always whole: a batch of events or a whole list is
applied and told without a pause in between, so whoever reads between two turns of the event loop
sees one state. Reading never waits.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Generic

from growth.kube.cache.contents import Change, ChangeKind, Contents, Unreadable, difference
from growth.kube.cache.own_writes import OwnWrites
from growth.kube.cache.resource import Key, KubernetesObject, T, WatchedResource

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from growth.kube.cache.resource import Index


class Store(Generic[T]):
    """Objects by namespace and name, and by the indexes that were declared for the kind."""

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
        """The version up to which everything is known."""
        self._contents = Contents(resource.indexes)

    def __len__(self) -> int:
        return len(self._contents.objects)

    @property
    def objects(self) -> Mapping[Key, T]:
        """All objects: a view that moves, and ends with the next list. Copy what has to stay."""
        return MappingProxyType(self._contents.objects)

    @property
    def unreadable(self) -> Mapping[Key, Unreadable]:
        """What is there too but can't be decoded. Whoever counts or removes must ask."""
        return MappingProxyType(self._contents.unreadable)

    def get(self, name: str, *, namespace: str = "") -> T | None:
        """One object."""
        return self._contents.objects.get(Key(namespace, name))

    def by(self, index: Index[T], value: Hashable) -> Mapping[Key, T]:
        """The objects that an index has under a value."""
        return MappingProxyType(self._contents.by(index, value))

    def values(self, index: Index[T]) -> Iterable[Hashable]:
        """The values under which an index has anything."""
        return self._contents.values(index)

    @property
    def contents(self) -> Contents[T]:
        """For the reflector: what a new list is compared with."""
        return self._contents

    def put(self, key: Key, obj: T) -> tuple[Change[T], ...]:
        """For the reflector: an object was added or modified."""
        changes = difference(key, self._contents.objects.get(key), obj)
        if changes:
            self._contents.put(key, obj)
        return changes

    def drop(self, key: Key) -> tuple[Change[T], ...]:
        """For the reflector: an object was deleted."""
        is_known = key in self._contents.objects or key in self._contents.unreadable
        old = self._contents.drop(key)
        # Also of one that can't be read: consumers were told that it isn't gone.
        return (Change(ChangeKind.DELETED, key, old, None),) if is_known else ()

    def put_unreadable(self, unreadable: Unreadable) -> tuple[Change[T], ...]:
        """For the reflector: an object can't be decoded any more."""
        old = self._contents.put_unreadable(unreadable)
        return () if old is None else (Change(ChangeKind.UNREADABLE, unreadable.key, old, None),)

    def replace(self, contents: Contents[T], *, position: str) -> None:
        """For the reflector: a whole list takes the place of what was known."""
        self._contents = contents
        self.position = position

    def _state(self, key: Key) -> tuple[KubernetesObject | None, str]:
        return self._contents.objects.get(key), self.position
