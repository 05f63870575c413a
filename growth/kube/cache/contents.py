"""The objects of one kind with their indexes, and the difference between two such collections.

A whole list is collected beside what is known and then put in its place at once, so that nobody
ever sees half of it; the difference tells which deletions were missed.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Generic

import msgspec

from growth.kube.cache.resource import Index, Key, T

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping


class ChangeKind(enum.Enum):
    """What has become of an object."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNREADABLE = "unreadable"
    """It is there, but not in the cache any more: it can't be decoded. Not to be taken for gone."""


class Change(msgspec.Struct, Generic[T], frozen=True):
    """One object, before and after. `old` and `new` are None where the cache has or had none."""

    kind: ChangeKind
    key: Key
    old: T | None
    new: T | None


class Statement(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A condition in an object's status, as far as it tells the same as another one."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int = 0


class Unreadable(msgspec.Struct, frozen=True, gc=False):
    """An object that is there but couldn't be decoded: not in the cache, and never forgotten."""

    key: Key
    uid: str
    version: str
    problem: str
    generation: int = 0
    conditions: tuple[Statement, ...] = ()
    """What its status says, if that at least can be read."""


class Contents(Generic[T]):
    """Objects by key, and by each index."""

    def __init__(self, indexes: Iterable[Index[T]] = ()) -> None:
        self.objects: dict[Key, T] = {}
        self.unreadable: dict[Key, Unreadable] = {}
        self._indexes = tuple(indexes)
        self._places: dict[str, dict[Hashable, dict[Key, T]]] = {
            index.name: {} for index in self._indexes
        }

    def by(self, index: Index[T], value: Hashable) -> Mapping[Key, T]:
        """The objects that an index has under this value."""
        return self._places[index.name].get(value, {})

    def values(self, index: Index[T]) -> Iterable[Hashable]:
        """The values under which an index has anything."""
        return self._places[index.name].keys()

    def put(self, key: Key, obj: T) -> T | None:
        """Takes an object in; the answer is the one that it replaces."""
        self.unreadable.pop(key, None)
        old = self.objects.get(key)
        self.objects[key] = obj
        for index in self._indexes:
            values = tuple(index.values(obj))
            before = () if old is None else tuple(index.values(old))
            self._file(self._places[index.name], key=key, obj=obj, before=before, values=values)
        return old

    def drop(self, key: Key) -> T | None:
        """Takes an object out; the answer is the one that was there."""
        self.unreadable.pop(key, None)
        old = self.objects.pop(key, None)
        if old is not None:
            for index in self._indexes:
                _unfile(self._places[index.name], key, index.values(old))
        return old

    def put_unreadable(self, unreadable: Unreadable) -> T | None:
        """Takes out what is there under this key and remembers that something else is."""
        old = self.drop(unreadable.key)
        self.unreadable[unreadable.key] = unreadable
        return old

    @staticmethod
    def _file(
        places: dict[Hashable, dict[Key, T]],
        *,
        key: Key,
        obj: T,
        before: tuple[Hashable, ...],
        values: tuple[Hashable, ...],
    ) -> None:
        if before != values:
            _unfile(places, key, before)
        for value in values:
            places.setdefault(value, {})[key] = obj


def content_differences(old: Contents[T], new: Contents[T]) -> Iterator[tuple[Change[T], ...]]:
    """What turns one into the other: object by object, so that the caller may pause between two."""
    for key, known in old.objects.items():
        if key not in new.objects:
            gone = ChangeKind.UNREADABLE if key in new.unreadable else ChangeKind.DELETED
            yield (Change(gone, key, known, None),)
    for key in old.unreadable.keys() - new.unreadable.keys() - new.objects.keys():
        yield (Change(ChangeKind.DELETED, key, None, None),)
    for key, found in new.objects.items():
        yield difference(key, old.objects.get(key), found)


def difference(key: Key, old: T | None, new: T) -> tuple[Change[T], ...]:
    """What happened to one object, if anything did."""
    if old is None:
        return (Change(ChangeKind.ADDED, key, None, new),)
    if old.metadata.uid != new.metadata.uid:
        # The name was used again: consumers keep things by uid, so they are told of both.
        return (
            Change(ChangeKind.DELETED, key, old, None),
            Change(ChangeKind.ADDED, key, None, new),
        )
    if old.metadata.resource_version == new.metadata.resource_version:
        return ()
    return (Change(ChangeKind.MODIFIED, key, old, new),)


def _unfile(places: dict[Hashable, dict[Key, T]], key: Key, values: Iterable[Hashable]) -> None:
    for value in values:
        place = places.get(value)
        if place is not None:
            place.pop(key, None)
            if not place:
                del places[value]


def uids_of_deleted(changes: Iterable[Change[T]]) -> frozenset[str]:
    """The objects that are gone, by uid: what follows under the same name is another one."""
    return frozenset(
        change.old.metadata.uid
        for change in changes
        if change.kind is ChangeKind.DELETED and change.old is not None
    )
