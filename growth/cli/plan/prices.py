"""Where `growth plan` has its prices from, and what they leave out.

The types of a KwokNodeClass are in the class or in its ConfigMap. Hetzner's are in a list of
prices: the file that `--catalogue` names, else the one that comes with growth. What a pool names
and nobody sells, or sells at a price that nobody knows, is told by name, as a plan that goes
without it in silence would look like advice.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.kwoknodeclass import KwokNodeClass
from growth.cli.terminal import inputs
from growth.errors import Misconfigured
from reconciler.buying.missing_types import why_missing
from reconciler.buying.offers import sold_to
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.hetzner import catalogue as hetzner
from reconciler.providers.hetzner import listed, price_list
from reconciler.providers.hetzner.price_list import PriceList
from reconciler.providers.kwok.catalogue import kwok_offerings as simulated
from reconciler.providers.kwok.catalogue import types_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from growth.api.kwoknodeclass import KwokServerType
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequestSpec
    from growth.api.written import ServerTypeName
    from reconciler.core.world import NodeClass, World
    from reconciler.providers.port import ClassKey, Offering

SHIPPED = "shipped with growth"
DataKey = tuple[str, str, str]
"""Namespace and name of a ConfigMap, and the key in its data."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Of what prices are, so that nobody believes them more than they deserve."""

    currency: str
    date: str
    origin: str
    """The file, or that they came with growth."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """A list of prices, and where it was found."""

    listed: PriceList
    found: str

    @property
    def origin(self) -> Origin:
        """In words."""
        return Origin(
            currency=self.listed.currency, date=self.listed.date.isoformat(), origin=self.found
        )


class NotOffered(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a pool names and can't have."""

    pool: str
    what: str
    """A type, or a place."""
    reason: str


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say of a plan's prices."""

    origin: Origin | None
    """None where no pool buys from a price list."""
    estimated: frozenset[tuple[str, str, str]]
    """Pool, type and place of offers whose price is an estimate."""
    not_offered: tuple[NotOffered, ...]

    def is_estimated(self, spec: NodeRequestSpec) -> bool:
        """Whether the price of this machine is."""
        return (spec.pool, spec.server_type.canonical, spec.location) in self.estimated


def bill_of(world: World, prices: Prices) -> Bill:
    """What there is to say before anything is planned."""
    pools = world.pools.values()
    is_listed = any(isinstance(_class_of(pool, world), HetznerNodeClass) for pool in pools)
    return Bill(
        origin=prices.origin if is_listed else None,
        estimated=frozenset(_estimates(world, prices)),
        not_offered=tuple(_not_offered(world, prices)),
    )


def prices_from(file: str | None) -> Prices:
    """The list in the file; without one, the list that comes with growth."""
    if file is None:
        return Prices(listed=price_list.shipped(), found=SHIPPED)
    return Prices(
        listed=price_list.read_price_list(inputs.content(Path(file)), name=file), found=file
    )


def offerings_by_class(
    node_classes: Mapping[ClassKey, NodeClass],
    prices: Prices,
    *,
    config_maps: Mapping[DataKey, str],
    now: datetime,
) -> dict[ClassKey, tuple[Offering, ...]]:
    """What each node class can buy."""
    sold = listed.catalogue(prices.listed)
    found: dict[ClassKey, tuple[Offering, ...]] = {}
    for key, node_class in node_classes.items():
        match node_class:
            case KwokNodeClass():
                found[key] = simulated(node_class, _types(node_class, config_maps))
            case HetznerNodeClass():
                # Which zones a network is in isn't in the files: the pool's locations narrow it.
                found[key] = hetzner.hetzner_offerings(sold, node_class.spec, networks=(), now=now)
    return found


def _types(
    node_class: KwokNodeClass, config_maps: Mapping[DataKey, str]
) -> tuple[KwokServerType, ...] | None:
    """The types in the ConfigMap that a class names; None where they are in the class itself."""
    reference = node_class.spec.catalogue_from
    if reference is None:
        return None
    text = config_maps.get((reference.namespace, reference.name, reference.key))
    named = f"ConfigMap {reference.namespace}/{reference.name}"
    if text is None:
        raise Misconfigured(
            f'KwokNodeClass "{node_class.name}": spec.catalogueFrom: there is no {named} with the '
            f"key {reference.key}: give its file too"
        )
    return types_of(text, place=f"{named}, key {reference.key}")


def _estimates(world: World, prices: Prices) -> Iterator[tuple[str, str, str]]:
    for pool in world.pools.values():
        if isinstance(node_class := _class_of(pool, world), HetznerNodeClass):
            for server_type, place in listed.estimates(prices.listed, node_class.spec):
                yield pool.name, server_type, place


def _not_offered(world: World, prices: Prices) -> Iterator[NotOffered]:
    """What pools name in vain, and why."""
    for _, pool in sorted(world.pools.items()):
        own = list(sold_to(pool, world.offerings.get(node_class_of(pool, world), ())))
        types, places = {each.server_type for each in own}, {each.location for each in own}
        for entry in pool.spec.server_types:
            if entry.name not in types:
                reason = _why_not(pool, entry.name, world, prices)
                yield NotOffered(pool=pool.name, what=str(entry.name), reason=reason)
        for each in pool.spec.locations:
            if own and each.region not in places:
                reason = f"none of its types is sold in {each.region} at a price that is known"
                yield NotOffered(pool=pool.name, what=each.region, reason=reason)


def _why_not(pool: NodePool, name: ServerTypeName, world: World, prices: Prices) -> str:
    key = node_class_of(pool, world)
    sold = world.offerings.get(key, ())
    is_somewhere = any(each.server_type == name for each in sold)
    match world.node_classes.get(key):
        case HetznerNodeClass(spec=spec) if not is_somewhere:
            return listed.why_not(prices.listed, spec, name)
        case None:
            return "the pool's node class isn't there"
        case _:
            return why_missing(name, sold, node_class=key.name)


def _class_of(pool: NodePool, world: World) -> NodeClass | None:
    return world.node_classes.get(node_class_of(pool, world))
