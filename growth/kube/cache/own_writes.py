"""Our own last write of each object, until the cache has seen it.

Between a write and its event, the cache has a state that we know to be outdated. Deciding on it
would do things twice: a second machine for the same pods, a second eviction. So the version of each
write is kept here until the cache has reached it, and rules check this before they decide.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

import msgspec

from growth.errors import RetryLater
from growth.kube.versions import is_before, number, reaches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from growth.kube.cache.resource import Key, KubernetesObject


class OwnWrite(msgspec.Struct, frozen=True, gc=False):
    """A confirmed write, with the new version of the object."""

    uid: str
    version: str

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:
        """Whether a cache at this position, with this object, has seen the write."""
        # A cache at a later position with an older object has lost the event of the write. Only a
        # new list helps, and until then nothing may be decided on this object.
        if _is_older(obj, self):
            return False
        if number(self.version) is not None and number(position) is not None:
            return reaches(position, self.version) or _has(obj, self)
        # The versions of this server can't be compared: only the object itself is proof.
        return _has(obj, self)


class OwnCreate(msgspec.Struct, frozen=True, gc=False):
    """An object that the server has created, or has refused to create because it exists.

    If the cache doesn't have the object, that proves nothing, whatever its position: the event may
    be lost. Proof is only the object itself, its deletion, or a list that began after the answer.
    """

    uid: str
    version: str

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:  # noqa: ARG002
        """Whether the cache has the object, in this version or a newer one."""
        return _has(obj, self)

    def is_overtaken(self, *, position: str) -> bool:
        """Whether the watch of a cache at this position can't bring its event any more."""
        return reaches(position, self.version)


class Deleted(msgspec.Struct, frozen=True, gc=False):
    """A confirmed deletion; the answer doesn't contain the new version."""

    uid: str
    version: str
    """The version that was deleted, as far as it is known."""

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:
        """Whether the object is gone from the cache, or has changed because of finalizers."""
        # A cache that is behind may not have the object yet, or an older version: that is no proof.
        if obj is None or obj.metadata.uid != self.uid:
            return reaches(position, self.version)
        return is_before(self.version, obj.metadata.resource_version)


def has_missed(found: KubernetesObject, known: KubernetesObject | None, *, position: str) -> bool:
    """Whether a cache that knows this of an object will never be told what the server shows of it.

    One that is further on than what the server shows, and doesn't have it, has lost the event: only
    a list helps. One that is behind will be told.
    """
    there = OwnCreate(uid=found.metadata.uid, version=found.metadata.resource_version)
    return there.is_overtaken(position=position) and not there.is_seen(known, position=position)


def _is_older(obj: KubernetesObject | None, written: OwnWrite) -> bool:
    if obj is None or obj.metadata.uid != written.uid:
        return False
    return is_before(obj.metadata.resource_version, written.version)


def _has(obj: KubernetesObject | None, written: OwnWrite | OwnCreate) -> bool:
    if obj is None or obj.metadata.uid != written.uid:
        return False
    return reaches(obj.metadata.resource_version, written.version)


Unseen = OwnWrite | OwnCreate | Deleted


class OwnWrites:
    """Our writes of one kind that the cache hasn't seen yet."""

    def __init__(
        self,
        *,
        state: Callable[[Key], tuple[KubernetesObject | None, str]],
        seen: Callable[[float], None] = lambda _: None,
        noted: Callable[[], None] = lambda: None,
    ) -> None:
        """`noted` is called for each unseen write, `seen` with the time until it was seen."""
        self._state = state
        self._observe = seen
        self._tell = noted
        self._unseen: dict[Key, tuple[Unseen, float]] = {}
        self._waiting: list[asyncio.Event] = []

    def note(self, key: Key, write: Unseen) -> None:
        """Call this with each confirmed write, before anything else is decided."""
        obj, position = self._state(key)
        if not write.is_seen(obj, position=position):
            # `oldest` reads the first entry, so a second write of an object goes to the end.
            self._unseen.pop(key, None)
            self._unseen[key] = (write, asyncio.get_running_loop().time())
            self._tell()

    def is_unseen(self, key: Key) -> bool:
        """Whether the cache is behind our own write; then nothing may be decided on the object."""
        return key in self._unseen

    @property
    def oldest(self) -> float:
        """The time of the oldest unseen write; infinite if there is none."""
        return next((since for _, since in self._unseen.values()), math.inf)

    def is_overtaken(self, key: Key) -> bool:
        """Whether we created this object and only a list can show it."""
        write, _ = self._unseen.get(key, (None, 0.0))
        _, position = self._state(key)
        return isinstance(write, OwnCreate) and write.is_overtaken(position=position)

    @property
    def has_overtaken(self) -> bool:
        """Whether there is any object that we created and only a list can show."""
        return any(map(self.is_overtaken, self._unseen))

    def looked_for_at(self, *, patience: float) -> float:
        """When a list must look for unseen writes; infinite if there are none."""
        return -math.inf if self.has_overtaken else self.oldest + patience

    @property
    def keys(self) -> frozenset[Key]:
        """All objects with an unseen write."""
        return frozenset(self._unseen)

    async def seen(self, key: Key, *, timeout: float) -> None:  # noqa: ASYNC109 - named in the error
        """Wait until the cache has seen our last write of this object."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while key in self._unseen:
            woken = asyncio.Event()
            self._waiting.append(woken)
            try:
                async with asyncio.timeout_at(end):
                    await woken.wait()
            except TimeoutError:
                raise RetryLater(
                    f"{key.name}: our write is not in the cache after {timeout:g} s"
                ) from None
            finally:
                self._waiting.remove(woken)

    def review(
        self, *, gone: Collection[str] = frozenset(), listed_from: float | None = None
    ) -> bool:
        """Forget the writes that the cache has seen by now; returns whether there were any.

        `gone` has the uids of deleted objects. `listed_from` is the time at which a list of the
        newest state was requested; it includes all writes that were confirmed before.
        """
        before = len(self._unseen)
        if not before:
            return False
        now = asyncio.get_running_loop().time()
        for key, (write, since) in tuple(self._unseen.items()):
            obj, position = self._state(key)
            is_listed = listed_from is not None and since <= listed_from
            if is_listed or write.uid in gone or write.is_seen(obj, position=position):
                del self._unseen[key]
                self._observe(now - since)
        for woken in self._waiting:
            woken.set()
        return len(self._unseen) < before
