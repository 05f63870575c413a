"""What the provider has none of, and how it is found out that it has some again.

A refusal holds while a request, or the pool's own status, says so. When its time has run out the
offer is usable again, but pods in back-off don't come back by that alone: one of them is given a
probe, and when a machine of that offer serves, all of them are planned again.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, assert_never

import msgspec

from growth.api.noderequest import RequestPhase, UnmetScope
from growth.api.written import ServerTypeName
from reconciler.planning.nominations import COMING
from reconciler.planning.offers import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.nodepool_status import UnmetOffer
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.planning.offers import Purchasable
    from reconciler.providers.port import ClassKey
    from reconciler.world import World

PROBE_PAUSE = 300.0
"""Seconds between two probes of one offer, where a probe can't even be planned."""


class Refusal(NamedTuple):
    """What a provider has none of; what is left out stands for all of it."""

    node_class: ClassKey
    location: str = ""
    server_type: ServerTypeName | None = None

    def covers(self, node_class: ClassKey, location: str, server_type: ServerTypeName) -> bool:
        """Whether an offer is refused by this."""
        return (
            self.node_class == node_class
            and self.location in {"", location}
            and self.server_type in {None, server_type}
        )


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal that has run out, and of which nobody knows yet whether it still holds."""

    ended_at: datetime
    probe_at: float
    """The monotonic second from which a probe may be bought."""


class Refusals(msgspec.Struct, frozen=True, kw_only=True):
    """What is refused, and what may be had again."""

    standing: frozenset[Refusal] = frozenset()
    recovering: dict[Refusal, Recovery] = {}

    def probed_in_vain(self, refusal: Refusal, now: Instant) -> Refusals:
        """The same, with the next probe later: this one found nothing to buy."""
        known = self.recovering[refusal]
        later = msgspec.structs.replace(known, probe_at=now.monotonic + PROBE_PAUSE)
        return msgspec.structs.replace(self, recovering={**self.recovering, refusal: later})


def refusals(before: Refusals, world: World, now: Instant) -> tuple[Refusals, bool]:
    """What is refused now, and whether something that was refused has proven to be there again."""
    standing = frozenset(_standing(world, now))
    ended = before.standing - standing
    recovering = {
        **before.recovering,
        **{refusal: Recovery(ended_at=now.wall, probe_at=now.monotonic) for refusal in ended},
    }
    recovering = {each: known for each, known in recovering.items() if each not in standing}
    proven = {each for each, known in recovering.items() if _is_proven(each, known, world)}
    left = {each: known for each, known in recovering.items() if each not in proven}
    return Refusals(standing=standing, recovering=left), bool(proven)


def _standing(world: World, now: Instant) -> Iterator[Refusal]:
    for request in world.requests.values():
        pool = world.pools.get(request.spec.pool)
        if request.status.phase is RequestPhase.UNMET and pool is not None:
            yield _of_request(request, node_class_of(pool, world))
    for pool in world.pools.values():
        for offer in pool.status.unmet_offers:
            if offer.until > now.wall:
                yield _of_status(offer, node_class_of(pool, world))


def _of_request(request: NodeRequest, node_class: ClassKey) -> Refusal:
    match request.status.unmet_scope:
        case UnmetScope.PROJECT:
            return Refusal(node_class)
        case UnmetScope.LOCATION:
            return Refusal(node_class, request.spec.location)
        case UnmetScope.OFFER | None:
            return Refusal(node_class, request.spec.location, request.spec.server_type)
        case _:
            assert_never(request.status.unmet_scope)


def _of_status(offer: UnmetOffer, node_class: ClassKey) -> Refusal:
    server_type = ServerTypeName(offer.server_type) if offer.server_type else None
    return Refusal(node_class, offer.location, server_type)


def _is_proven(refusal: Refusal, known: Recovery, world: World) -> bool:
    """Whether a machine of the offer has come to serve since."""
    return any(
        request.status.phase is RequestPhase.READY
        and request.status.ready_at is not None
        and request.status.ready_at >= known.ended_at
        and _is_of(refusal, request, world)
        for request in world.requests.values()
    )


def _is_of(refusal: Refusal, request: NodeRequest, world: World) -> bool:
    pool = world.pools.get(request.spec.pool)
    if pool is None:
        return False
    key = node_class_of(pool, world)
    return refusal.covers(key, request.spec.location, request.spec.server_type)


def to_be_probed(
    known: Refusals, world: World, requests: Iterable[NodeRequest], now: Instant
) -> tuple[Refusal, ...]:
    """Refusals that have run out and of which no machine is on its way that would tell."""
    asked = _asked_for(known, world, requests)
    return tuple(
        refusal
        for refusal, recovery in sorted(known.recovering.items(), key=lambda pair: str(pair[0]))
        if recovery.probe_at <= now.monotonic and refusal not in asked
    )


def _asked_for(
    known: Refusals, world: World, requests: Iterable[NodeRequest]
) -> frozenset[Refusal]:
    """Refusals of which nobody knows whether they still hold, and a machine is asked for."""
    coming = [request for request in requests if request.status.phase in COMING]
    return frozenset(
        refusal
        for refusal in known.recovering
        if any(_is_of(refusal, request, world) for request in coming)
    )


def usable(
    items: Iterable[Purchasable],
    known: Refusals,
    world: World,
    requests: Iterable[NodeRequest],
) -> tuple[Purchasable, ...]:
    """What may be bought of them: nothing for a pool that is paused, nothing that is refused.

    Of what may be had again it is one machine, until it serves.
    """
    classes = {pool.name: node_class_of(pool, world) for pool in world.pools.values()}
    shut = known.standing | _asked_for(known, world, requests)
    found = []
    for item in items:
        key = classes[item.pool.name]
        if world.is_paused(item.pool.name) or any(_covers(each, key, item) for each in shut):
            continue
        is_doubtful = any(_covers(each, key, item) for each in known.recovering)
        found.append(msgspec.structs.replace(item, most=1) if is_doubtful else item)
    return tuple(found)


def matching(
    items: Iterable[Purchasable], refusal: Refusal, world: World
) -> tuple[Purchasable, ...]:
    """The offers that a refusal is about."""
    return tuple(item for item in items if _covers(refusal, node_class_of(item.pool, world), item))


def _covers(refusal: Refusal, node_class: ClassKey, item: Purchasable) -> bool:
    return refusal.covers(node_class, item.offering.location, item.offering.server_type)
