"""Our own last write of each object, until the cache has seen it.

Between a write and its event the cache shows a state that we know is past. Deciding on it does
things twice: a second machine for the same pods, a second eviction. So each write's version is kept
here until the cache has reached it, and whoever decides asks first.
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
    """A write that the server has confirmed: the version it made."""

    uid: str
    version: str

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:
        """Whether a cache at this position, with this object under the name, knows of it.

        A cache that is further on and shows the object in an older state was never told of the
        write: only a list helps, and until then nothing may be decided on what it shows.
        """
        if _is_older(obj, self):
            return False
        if number(self.version) is not None and number(position) is not None:
            return reaches(position, self.version) or _has(obj, self)
        # Versions of this server have no order: only the object's own event is a proof.
        return _has(obj, self)


class OwnCreate(msgspec.Struct, frozen=True, gc=False):
    """An object that the server says is there: it made it, or refused to make it once more.

    However far the cache is, that it doesn't show the object proves nothing: the event may be lost.
    Only the object itself is a proof, its deletion, or a list that began after the server's word.
    """

    uid: str
    version: str

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:  # noqa: ARG002
        """Whether this object is that one, in this state or a newer one."""
        return _has(obj, self)

    def is_overtaken(self, *, position: str) -> bool:
        """Whether a cache at this position will never be told of it by an event."""
        return reaches(position, self.version)


class Deleted(msgspec.Struct, frozen=True, gc=False):
    """A deletion that the server has confirmed; the answer doesn't tell the version it made."""

    uid: str
    version: str
    """The version that was deleted, as far as we know it."""

    def is_seen(self, obj: KubernetesObject | None, *, position: str) -> bool:
        """Seen when it is gone, or when finalizers keep it, changed.

        A cache that is behind shows it in an older state, or not yet at all: that is no proof.
        """
        if obj is None or obj.metadata.uid != self.uid:
            return reaches(position, self.version)
        return is_before(self.version, obj.metadata.resource_version)


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
    """What we wrote of one kind and haven't seen yet."""

    def __init__(
        self,
        *,
        state: Callable[[Key], tuple[KubernetesObject | None, str]],
        seen: Callable[[float], None] = lambda _: None,
        noted: Callable[[], None] = lambda: None,
    ) -> None:
        """`noted` is called with each write that isn't seen yet, `seen` with the time it took."""
        self._state = state
        self._observe = seen
        self._tell = noted
        self._unseen: dict[Key, tuple[Unseen, float]] = {}
        self._waiting: list[asyncio.Event] = []

    def note(self, key: Key, write: Unseen) -> None:
        """To be called with each confirmed write, before anything else is decided."""
        obj, position = self._state(key)
        if not write.is_seen(obj, position=position):
            # The oldest comes first: a second write of an object goes to the end.
            self._unseen.pop(key, None)
            self._unseen[key] = (write, asyncio.get_running_loop().time())
            self._tell()

    def is_unseen(self, key: Key) -> bool:
        """Whether this object must not be decided on yet: the cache is behind our own write."""
        return key in self._unseen

    @property
    def oldest(self) -> float:
        """Since when the first of them has been waited for; infinite when none is."""
        return next((since for _, since in self._unseen.values()), math.inf)

    def is_overtaken(self, key: Key) -> bool:
        """Whether only a list can show this object, which the server says is there."""
        write, _ = self._unseen.get(key, (None, 0.0))
        _, position = self._state(key)
        return isinstance(write, OwnCreate) and write.is_overtaken(position=position)

    @property
    def has_overtaken(self) -> bool:
        """Whether there is any of which only a list can tell."""
        return any(map(self.is_overtaken, self._unseen))

    def looked_for_at(self, *, patience: float) -> float:
        """When a list has to look for what isn't seen; infinite while nothing is waited for."""
        return -math.inf if self.has_overtaken else self.oldest + patience

    @property
    def keys(self) -> frozenset[Key]:
        """All objects that must not be decided on yet."""
        return frozenset(self._unseen)

    async def seen(self, key: Key, *, timeout: float) -> None:  # noqa: ASYNC109 - named in the error
        """Waits until the cache knows of our last write of this object."""
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
        """Called when the cache has moved: lets go of what it has seen by now, and tells if any.

        `gone` are the uids of deleted objects; `listed_from` is when a list of the newest state was
        asked for, which shows everything that was confirmed before.
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
