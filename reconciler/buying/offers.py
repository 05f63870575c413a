"""What can be bought: each offer of each pool, as the node that it will become.

Catalogues and pools change rarely, pods all the time. So these nodes are computed once and kept as
long as pools, prices and DaemonSets are the same objects. Whether one may be bought now (limits,
refusals) is decided in each pass.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.nodepool import NodePool
from growth.api.written import ServerTypeName
from growth.scheduling.daemonsets import daemon_pods
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.resources import Resources, parse_resources, total
from reconciler.buying.templates import template
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.port import ClassKey, Offering
from reconciler.providers.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from growth.api.noderequest import NodeRequestSpec
    from reconciler.core.world import World

REGION_LABEL = "topology.kubernetes.io/region"
ZONE_LABEL = "topology.kubernetes.io/zone"


OfferKey = tuple[str, str, tuple[tuple[str, str], ...]]
"""Type, location and own labels, which together identify an offer of a catalogue."""


def offer_key(offering: Offering) -> OfferKey:
    """Which offer this is."""
    own = tuple(sorted(offering.own_labels.items()))
    return offering.server_type.canonical, offering.location, own


def asked_for(spec: NodeRequestSpec) -> OfferKey:
    """Which offer a request is for."""
    return spec.server_type.canonical, spec.location, tuple(sorted(spec.labels.items()))


def offer_of(spec: NodeRequestSpec, catalogue: Iterable[Offering]) -> Offering | None:
    """The offer that a request is for; None if it is no longer sold."""
    wanted = asked_for(spec)
    # Most differ in these two already, and a machine that boots is asked about in every pass.
    server_type, location, _ = wanted
    alike = (
        each
        for each in catalogue
        if each.location == location and each.server_type.canonical == server_type
    )
    return next((each for each in alike if offer_key(each) == wanted), None)


class Purchasable(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A machine that a pool may buy, as the node that it will become."""

    name: str
    """Unique among all offers of all pools."""
    pool: NodePool
    offering: Offering
    node: Node
    daemons: tuple[Pod, ...]
    """The pods of DaemonSets that will run on it."""
    room: Resources
    """What is left for other pods."""
    most: int | None = None
    """How many machines the provider has of it; None if that is unknown."""

    @property
    def price(self) -> int:
        """Millionths an hour, as the solver counts."""
        return millionths(self.offering)

    @cached_property
    def forms(self) -> dict[Hashable, Any]:
        """A cache for values that questions derive from it, as it stays on the shelf for long."""
        return {}


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """All offers that can be bought if limits are ignored, and what they were computed from."""

    pools: tuple[object, ...] = ()
    seen: tuple[object, ...] = ()
    items: tuple[Purchasable, ...] = ()
    missing: Mapping[str, tuple[ServerTypeName, ...]] = {}
    """Types that a pool names and can buy nowhere, of each pool whose catalogue is known."""
    currencies: Mapping[str, frozenset[str]] = {}
    """The currencies of each pool's offers."""


def millionths(offering: Offering) -> int:
    """The price of an hour as an integer, so that sums are exact."""
    return int(offering.price * 1_000_000)


def shelf(world: World, before: Shelf) -> Shelf:
    """The current shelf; the same object as long as nothing that it depends on has changed."""
    zones = zones_seen(world)
    pools = (zones, *(_version(pool) for _, pool in sorted(world.pools.items())))
    seen = (
        *_by_name(world.offerings),
        *_by_name(world.node_classes),
        *_by_name(world.cluster.daemon_sets),
    )
    # Objects of a cache are replaced when they change, so identity tells whether they have.
    is_same = len(seen) == len(before.seen) and all(
        one is other for one, other in zip(seen, before.seen, strict=True)
    )
    if is_same and pools == before.pools:
        return before
    items = tuple(_items(world, zones))
    return Shelf(
        pools=pools,
        seen=seen,
        items=items,
        missing=dict(_missing(world, items)),
        currencies=_currencies(items),
    )


def _currencies(items: Iterable[Purchasable]) -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        found[item.pool.name].add(item.offering.currency)
    return {name: frozenset(each) for name, each in found.items()}


def _missing(
    world: World, items: Iterable[Purchasable]
) -> Iterator[tuple[str, tuple[ServerTypeName, ...]]]:
    sold = {(item.pool.name, item.offering.server_type) for item in items}
    for name, pool in sorted(world.pools.items()):
        if node_class_of(pool, world) in world.offerings:
            wanted = (entry.name for entry in pool.spec.server_types)
            yield name, tuple(each for each in wanted if (name, each) not in sold)


def _version(pool: NodePool) -> tuple[object, ...]:
    """The parts of a pool that matter here: the rest of its status changes all the time."""
    metadata = pool.metadata
    return metadata.uid, metadata.generation, pool.name, pool.status.learnt_allocatable


def _by_name(objects: Mapping[Any, object]) -> Iterator[object]:
    return (objects[name] for name in sorted(objects))


def _items(world: World, zones: Mapping[str, str]) -> Iterator[Purchasable]:
    names: set[str] = set()
    for _, pool in sorted(world.pools.items()):
        learnt = {
            each.server_type: parse_resources(dict(each.resources))
            for each in pool.status.learnt_allocatable
        }
        key = node_class_of(pool, world)
        offerings = (_as_seen(each, key, zones) for each in world.offerings.get(key, ()))
        for offering in sold_to(pool, offerings):
            name = _name(pool, offering)
            # A catalogue that lists one offer twice means it once.
            if name not in names:
                names.add(name)
                smallest = learnt.get(offering.server_type)
                yield _item(name, pool, offering, world=world, smallest=smallest)


def zones_seen(world: World) -> Mapping[str, str]:
    """The zone label of the nodes in each region, whatever has set it."""
    return world.cluster.remembered("zones by region", lambda: _zones_seen(world))


def _zones_seen(world: World) -> Mapping[str, str]:
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, node in sorted(world.cluster.nodes.items()):
        region, zone = node.labels.get(REGION_LABEL), node.labels.get(ZONE_LABEL)
        if region and zone:
            counted[region][zone] += 1
    # Nodes are counted in the order of their names, so that a tie ends the same way each time.
    return {region: zones.most_common(1)[0][0] for region, zones in counted.items()}


def _as_seen(offering: Offering, key: ClassKey, zones: Mapping[str, str]) -> Offering:
    """The offering with the zone of existing nodes there; a simulated cloud keeps its promise."""
    # A cloud controller may name zones in its own way. A plan that believed the usual names would
    # buy machines that no pod of the zone can use.
    zone = zones.get(offering.location) if PROVIDERS[key.kind].is_zone_told_by_nodes else None
    if zone is None or offering.labels.get(ZONE_LABEL) == zone:
        return offering
    return msgspec.structs.replace(offering, labels={**offering.labels, ZONE_LABEL: zone})


def _item(
    name: str, pool: NodePool, offering: Offering, *, world: World, smallest: Resources | None
) -> Purchasable:
    node = template(pool, offering, name="planned")
    daemons = daemon_pods(node, world.cluster.daemon_sets.values())
    promised = node.allocatable if smallest is None else _least(node.allocatable, smallest)
    return Purchasable(
        name=name,
        pool=pool,
        offering=offering,
        node=node,
        daemons=daemons,
        room=promised - total(pod.requests for pod in daemons),
        most=offering.available,
    )


def _least(promised: Resources, seen: Resources) -> Resources:
    """The promised amounts, or those seen on nodes of the type where these are less."""
    return Resources(
        {
            name: min(amount, seen.amounts.get(name, amount))
            for name, amount in promised.amounts.items()
        }
    )


def _name(pool: NodePool, offering: Offering) -> str:
    own = ",".join(f"{key}={value}" for key, value in sorted(offering.own_labels.items()))
    parts = (pool.name, offering.server_type.canonical, offering.location, own)
    return "/".join(part for part in parts if part)


def sold_to(pool: NodePool, offerings: Iterable[Offering]) -> Iterator[Offering]:
    """The offers of the pool's types in its locations."""
    allowed = {entry.name for entry in pool.spec.server_types}
    places = {location.region: frozenset(location.zones) for location in pool.spec.locations}
    for offering in offerings:
        if offering.server_type in allowed and _is_sold_in(places, offering):
            yield offering


def _is_sold_in(places: Mapping[str, frozenset[str]], offering: Offering) -> bool:
    if not places:
        return True
    zones = places.get(offering.location)
    if zones is None:
        return False
    return not zones or offering.labels.get(ZONE_LABEL, "") in zones
