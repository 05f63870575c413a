"""Placement groups: Hetzner keeps the servers of a group on different hosts.

A group holds 10 servers, so a pool has several groups: shards `<pool>-<n>`, created when the others
are full and deleted when they are empty. A project may have 50 groups. Beyond that, or if Hetzner
can't spread a group any further, the class's policy says whether to buy a server without a group.

Servers that are being bought reserve their place, or a burst would aim all of them at the same gap.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import structlog

from growth.api.wellknown import POOL_LABEL
from reconciler.providers.hetzner.calls import CallFailed, decoded_answer
from reconciler.providers.hetzner.failures import CallSubject
from reconciler.providers.hetzner.labels import group_labels, selector
from reconciler.providers.hetzner.wire import PlacementGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.instant import Instant
    from reconciler.providers.hetzner.calls import Calls

_log = structlog.get_logger(__name__)

GROUP_SIZE = 10
FRESH_FOR = 60.0
"""Seconds for which a listing of groups is used; growth counts its own servers at once."""
FULL_FOR = 300.0
"""Seconds without a new try after Hetzner couldn't place a server in a group."""
EMPTY_FOR = 600.0
"""The minimum age, in seconds, at which an empty group is deleted."""


@dataclass(kw_only=True)
class Shard:
    """One group, with the servers that were added since it was listed."""

    group: PlacementGroup
    underway: set[str] = field(default_factory=set)
    """Names of servers that are being bought for this group."""
    placed: dict[int, float] = field(default_factory=dict)
    """Ids of servers bought for it, and when: listings may not show them yet."""
    full_until: float = 0.0

    def room(self, now: float) -> int:
        """The number of free places."""
        if now < self.full_until:
            return 0
        # A union, because the listing may already show a server that was just placed.
        return GROUP_SIZE - len({*self.placed, *self.group.servers}) - len(self.underway)


def fullest(shards: Iterable[Shard], *, pool: str, now: float) -> Shard | None:
    """The pool's group to fill next: the one with the fewest free places, but at least one.

    The others can then become empty and be deleted, which matters because a project may have few.
    """
    open_ones = [
        shard
        for shard in shards
        if shard.group.labels.get(POOL_LABEL) == pool and shard.room(now) > 0
    ]
    return min(open_ones, key=lambda shard: (shard.room(now), shard.group.id), default=None)


def free_name(pool: str, names: Iterable[str], *, cluster: str) -> str:
    """The first free name of a shard. It contains the cluster, because the project shares names."""
    taken = set(names)
    number = 1
    while (name := f"growth-{cluster[:8]}-{pool}-{number}") in taken:
        number += 1
    return name


class Groups:
    """The placement groups of one cluster in one project."""

    def __init__(self, calls: Calls, *, cluster: str, now: Callable[[], Instant]) -> None:
        self._calls = calls
        self._cluster = cluster
        self._now = now
        self._shards: dict[int, Shard] = {}
        self._read_at: float | None = None
        self._one_at_a_time = asyncio.Lock()

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the groups."""
        return tuple(sorted(self._shards))

    async def hold(self, server: str, *, pool: str) -> int:
        """Reserve a place in a group for a server that is about to be bought."""
        async with self._one_at_a_time:
            await self._refresh()
            shard = fullest(self._shards.values(), pool=pool, now=self._now().monotonic)
            shard = shard or await self._add(pool)
            shard.underway.add(server)
            return shard.group.id

    def release(self, group: int, *, server: str) -> None:
        """End a server's reservation, whatever the result of buying it."""
        if (shard := self._shards.get(group)) is not None:
            shard.underway.discard(server)

    def bought(self, group: int, *, server_id: int) -> None:
        """Record that the server was bought."""
        if (shard := self._shards.get(group)) is not None:
            shard.placed[server_id] = self._now().monotonic

    def is_full(self, group: int) -> None:
        """Record that Hetzner couldn't place a server in this group."""
        if (shard := self._shards.get(group)) is not None:
            shard.full_until = self._now().monotonic + FULL_FOR

    def forget(self) -> None:
        """Read the groups again, because one of them no longer exists."""
        self._read_at = None

    async def tidy(self) -> None:
        """Delete empty groups that are old enough."""
        async with self._one_at_a_time:
            await self._refresh()
            for shard in list(self._shards.values()):
                age = self._now().seconds_since(shard.group.created)
                in_use = shard.underway or shard.placed or shard.group.servers
                if not in_use and age > EMPTY_FOR:
                    await self._remove(shard)

    async def _remove(self, shard: Shard) -> None:
        try:
            await self._calls.delete(f"/placement_groups/{shard.group.id}")
        except CallFailed as failed:
            # It may have got a server meanwhile, also from a person. It is looked at again later.
            if failed.failure.code != "not_found":
                return
        del self._shards[shard.group.id]
        _log.info("removed an empty placement group", name=shard.group.name)

    async def _refresh(self) -> None:
        now = self._now().monotonic
        if self._read_at is not None and now - self._read_at < FRESH_FOR:
            return
        found = await self._calls.pages(
            "/placement_groups",
            key="placement_groups",
            kind=PlacementGroup,
            label_selector=selector(self._cluster),
        )
        known = self._shards
        self._shards = {
            each.id: _carried(each, known.get(each.id), now=now) for each in found.entries
        }
        self._read_at = now

    async def _add(self, pool: str) -> Shard:
        names = (shard.group.name for shard in self._shards.values())
        body = {
            "name": free_name(pool, names, cluster=self._cluster),
            "type": "spread",
            "labels": group_labels(pool, cluster=self._cluster),
        }
        try:
            answer = await self._calls.create("/placement_groups", body)
        except CallFailed as failed:
            raise self._reread(failed) from None
        shard = Shard(group=decoded_answer(answer.get("placement_group"), PlacementGroup))
        self._shards[shard.group.id] = shard
        return shard

    def _reread(self, failed: CallFailed) -> CallFailed:
        """A name conflict means that the listing missed a group of ours: turn it into a retry."""
        failure = msgspec.structs.replace(failed.failure, subject=CallSubject.GROUP)
        if failure.code == "uniqueness_error":
            self.forget()
            failure = msgspec.structs.replace(failure, code="conflict")
        return CallFailed(failure)


def _carried(group: PlacementGroup, known: Shard | None, *, now: float) -> Shard:
    """A group as listed now, with reservations and servers that the listing may not show yet."""
    if known is None:
        return Shard(group=group)
    placed = {server: at for server, at in known.placed.items() if now - at < FRESH_FOR}
    return Shard(group=group, underway=known.underway, placed=placed, full_until=known.full_until)
