"""The objects of one kind with their indexes, and the difference between two such collections.

A list is collected beside the known objects and then replaces them at once, so that no reader ever
sees half of it. The difference shows which deletions were missed.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Generic

import msgspec

from growth.kube.cache.resource import Index, Key, T

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping


class ChangeKind(enum.Enum):
    """What happened to an object."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNREADABLE = "unreadable"
    """It exists but can't be decoded, so it is no longer in the cache. It isn't deleted."""


class Change(msgspec.Struct, Generic[T], frozen=True):
    """One object before and after a change; None where it isn't in the cache."""

    kind: ChangeKind
    key: Key
    old: T | None
    new: T | None


class Statement(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A condition in an object's status."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int = 0


class Unreadable(msgspec.Struct, frozen=True, gc=False):
    """An object that exists but can't be decoded. It isn't in the cache, but it is remembered."""

    key: Key
    uid: str
    version: str
    problem: str
    generation: int = 0
    conditions: tuple[Statement, ...] = ()
    """The conditions in its status, if they can be read."""
    content: bytes = b""
    """The object as it came: code that counts purchases reads as much of it as it can."""


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
        """The objects with this value in an index."""
        return self._places[index.name].get(value, {})

    def values(self, index: Index[T]) -> Iterable[Hashable]:
        """The values for which an index has objects."""
        return self._places[index.name].keys()

    def put(self, key: Key, obj: T) -> T | None:
        """Add an object; returns the one that it replaces."""
        self.unreadable.pop(key, None)
        old = self.objects.get(key)
        self.objects[key] = obj
        for index in self._indexes:
            values = tuple(index.values(obj))
            before = () if old is None else tuple(index.values(old))
            self._file(self._places[index.name], key=key, obj=obj, before=before, values=values)
        return old

    def drop(self, key: Key) -> T | None:
        """Remove an object; returns it."""
        self.unreadable.pop(key, None)
        old = self.objects.pop(key, None)
        if old is not None:
            for index in self._indexes:
                _unfile(self._places[index.name], key, index.values(old))
        return old

    def put_unreadable(self, unreadable: Unreadable) -> T | None:
        """Replace an object by one that can't be decoded; returns the old one."""
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
    """The changes from one to the other, object by object, so that the caller can pause."""
    for key, known in old.objects.items():
        if key not in new.objects:
            gone = ChangeKind.UNREADABLE if key in new.unreadable else ChangeKind.DELETED
            yield (Change(gone, key, known, None),)
    for key in old.unreadable.keys() - new.unreadable.keys() - new.objects.keys():
        yield (Change(ChangeKind.DELETED, key, None, None),)
    for key, found in new.objects.items():
        yield difference(key, old.objects.get(key), found)


def difference(key: Key, old: T | None, new: T) -> tuple[Change[T], ...]:
    """The changes of one object, if any."""
    if old is None:
        return (Change(ChangeKind.ADDED, key, None, new),)
    if old.metadata.uid != new.metadata.uid:
        # The name was reused. Consumers keep objects by uid, so they get both changes.
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
    """The uids of deleted objects; a new object with the same name has another uid."""
    return frozenset(
        change.old.metadata.uid
        for change in changes
        if change.kind is ChangeKind.DELETED and change.old is not None
    )
