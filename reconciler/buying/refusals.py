"""What the provider has run out of, and how growth finds out that it is available again.

A refusal begins when a request becomes Unmet. The pool's status keeps it, across restarts and for
all pools of its node class. When its time is over the offer is doubtful: only one machine of it may
be bought at a time, until one serves. That alone doesn't end the back-off of pods: one of them gets
the machine that tests the offer (probing.py), and when it serves, all of them are planned again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, assert_never

import msgspec

from growth.api.noderequest import COMING, RequestPhase, UnmetScope
from growth.api.written import ServerTypeName
from reconciler.buying.blocking import may_buy
from reconciler.core.decision import NEVER
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import UnmetOffer
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.shape import Shape
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey

PROBE_PAUSE = 300.0
"""Seconds between two probes of one offer, where a probe can't even be planned."""
IN_VAIN = 50
"""Probes that are planned in vain within that pause; no more, however many offers and kinds of pods
there are: no minimum is planned and nothing is consolidated meanwhile."""
REMEMBERED = 3600.0
"""Seconds for which a probe in vain is known after its pause: those that weren't planned yet come
first."""
CEILING = 1800.0
"""The most seconds that a refusal lasts, unless the pool's own time to live is longer."""

EntryKey = tuple[str, str]
"""Type and location of a refusal, as in a pool's status; an empty one stands for all."""


class OfferRefusal(NamedTuple):
    """What a provider has run out of; a missing field stands for all values."""

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

    @property
    def text(self) -> str:
        """What was refused, as text."""
        what = "everything" if self.server_type is None else self.server_type.canonical
        return f"{what} in {self.location}" if self.location else what


class Probe(NamedTuple):
    """A test whether a refusal still applies: a machine for one pod of a shape."""

    refusal: OfferRefusal
    shape: Shape


class Refusals(msgspec.Struct, frozen=True, kw_only=True):
    """What is refused, and what may be available again."""

    standing: frozenset[OfferRefusal] = frozenset()
    doubtful: frozenset[OfferRefusal] = frozenset()
    """Expired refusals that no purchase has disproved yet."""
    probe_at: Mapping[Probe, float] = {}
    """The monotonic second from which a probe may be planned again whose last plan bought nothing,
    also for a while after it."""

    def probed_in_vain(self, probe: Probe, now: Instant) -> Refusals:
        """The same, with this probe later: its plan bought nothing."""
        later = {**self.probe_at, probe: now.monotonic + PROBE_PAUSE}
        return msgspec.structs.replace(self, probe_at=later)

    def next_probe(self, now: Instant) -> float:
        """When the next probe is due that was planned in vain, in monotonic seconds."""
        return min((at for at in self.probe_at.values() if at > now.monotonic), default=NEVER)

    def may_probe(self, now: Instant) -> bool:
        """Whether more probes may be planned now."""
        return sum(at > now.monotonic for at in self.probe_at.values()) < IN_VAIN


def refusals(before: Refusals, world: World, now: Instant) -> tuple[Refusals, bool]:
    """The refusals now, and whether a refused offer has proved to be available again."""
    standing = frozenset(_standing(world, now))
    doubtful = frozenset(_entries(world, now, is_over=True)) - standing
    probe_at = {
        probe: at
        for probe, at in before.probe_at.items()
        if probe.refusal in doubtful and at + REMEMBERED > now.monotonic
    }
    has_recovered = bool((before.standing | before.doubtful) - standing - doubtful)
    return Refusals(standing=standing, doubtful=doubtful, probe_at=probe_at), has_recovered


def key_of_refusal(request: NodeRequest) -> EntryKey:
    """How far the refusal of a request reaches."""
    spec = request.spec
    match request.status.unmet_scope:
        case UnmetScope.PROJECT:
            return "", ""
        case UnmetScope.LOCATION:
            return "", spec.location
        case UnmetScope.OFFER | None:
            return spec.server_type.canonical, spec.location
        case _:
            assert_never(request.status.unmet_scope)


def key_of_entry(entry: UnmetOffer) -> EntryKey:
    """How far an entry of a pool's status reaches."""
    return entry.server_type, entry.location


def refusal_of_entry(entry: UnmetOffer, node_class: ClassKey) -> OfferRefusal:
    """An entry of a pool's status as a rule of all pools of its node class."""
    return _refusal(key_of_entry(entry), node_class)


def is_written(request: NodeRequest, pool: NodePool) -> bool:
    """Whether the pool's status shows what an Unmet request has found out."""
    at, key = request.status.last_transition_time, key_of_refusal(request)
    return at is not None and any(
        key_of_entry(entry) == key and entry.until > at for entry in pool.status.unmet_offers
    )


def span(pool: NodePool, failures: int) -> float:
    """Seconds that an offer isn't tried after so many failures in a row."""
    first = pool.spec.request_ttl.unmet.seconds
    # Beyond 2^12 the ceiling holds anyway, and a large power would overflow.
    return float(min(first * 2.0 ** min(failures - 1, 12), max(CEILING, first)))


def time_to_live(request: NodeRequest, pool: NodePool) -> float:
    """How long an Unmet request is kept: as long as what it found out holds."""
    wanted = key_of_refusal(request)
    entries = (each for each in pool.status.unmet_offers if key_of_entry(each) == wanted)
    return span(pool, next((each.failures for each in entries), 1))


def _refusal(key: EntryKey, node_class: ClassKey) -> OfferRefusal:
    server_type, location = key
    return OfferRefusal(node_class, location, ServerTypeName(server_type) if server_type else None)


def _standing(world: World, now: Instant) -> Iterator[OfferRefusal]:
    for request in world.requests.values():
        pool = world.pools.get(request.spec.pool)
        is_unmet = request.status.phase is RequestPhase.UNMET
        # Until the pool's status shows the refusal, the request alone tells of it: planning must
        # not order the same again in between.
        if is_unmet and pool is not None and not is_written(request, pool):
            yield _refusal(key_of_refusal(request), node_class_of(pool, world))
    yield from _entries(world, now, is_over=False)


def _entries(world: World, now: Instant, *, is_over: bool) -> Iterator[OfferRefusal]:
    for pool in world.pools.values():
        for entry in pool.status.unmet_offers:
            if entry.holds(now.wall) is not is_over:
                yield refusal_of_entry(entry, node_class_of(pool, world))


def to_be_probed(
    known: Refusals, world: World, requests: Iterable[NodeRequest]
) -> tuple[OfferRefusal, ...]:
    """Doubtful refusals that no machine on its way is testing."""
    return tuple(sorted(known.doubtful - _asked_for(known, world, requests), key=str))


def _asked_for(
    known: Refusals, world: World, requests: Iterable[NodeRequest]
) -> frozenset[OfferRefusal]:
    """Doubtful refusals for which a machine is already on its way."""
    if not known.doubtful:
        return frozenset()
    coming = [request for request in requests if request.status.phase in COMING]
    return frozenset(
        refusal
        for refusal in known.doubtful
        if any(_is_of(refusal, request, world) for request in coming)
    )


def _is_of(refusal: OfferRefusal, request: NodeRequest, world: World) -> bool:
    pool = world.pools.get(request.spec.pool)
    if pool is None:
        return False
    key = node_class_of(pool, world)
    return refusal.covers(key, request.spec.location, request.spec.server_type)


def usable(
    items: Iterable[Purchasable],
    known: Refusals,
    world: World,
    requests: Iterable[NodeRequest],
) -> tuple[Purchasable, ...]:
    """The offers that may be bought: none of pools that may not buy, and none that is refused."""
    classes = {pool.name: node_class_of(pool, world) for pool in world.pools.values()}
    open_pools = {name for name, pool in world.pools.items() if may_buy(pool, world)}
    # While one machine tests an offer, no second one is ordered: its answer isn't known yet.
    shut = known.standing | _asked_for(known, world, requests)
    return tuple(
        item
        for item in items
        if item.pool.name in open_pools
        and not any(_covers(each, classes[item.pool.name], item) for each in shut)
    )


def one_at_a_time(
    items: Iterable[Purchasable], known: Refusals, world: World
) -> Mapping[str, frozenset[str]]:
    """Offers by doubtful refusal: of each group one machine may be bought, until it serves."""
    if not known.doubtful:
        return {}
    offered = tuple(items)
    return {
        refusal.text: frozenset(item.name for item in matching(offered, refusal, world))
        for refusal in sorted(known.doubtful, key=str)
    }


def matching(
    items: Iterable[Purchasable], refusal: OfferRefusal, world: World
) -> tuple[Purchasable, ...]:
    """The offers that a refusal is about."""
    return tuple(item for item in items if _covers(refusal, node_class_of(item.pool, world), item))


def _covers(refusal: OfferRefusal, node_class: ClassKey, item: Purchasable) -> bool:
    return refusal.covers(node_class, item.offering.location, item.offering.server_type)
