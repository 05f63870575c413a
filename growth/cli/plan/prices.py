"""The prices that `growth plan` uses, and those that are missing.

A class lists its types itself or in a ConfigMap, or its provider has a price list: the file given
with `--catalogue`, or the one shipped with growth. Types and locations of a pool that aren't sold,
or have no known price, are listed by name, because a plan without them would look like advice.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from growth.cli.terminal import inputs
from growth.errors import Misconfigured
from reconciler.buying.missing_types import why_missing
from reconciler.buying.offers import sold_to
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.hetzner import price_list
from reconciler.providers.hetzner.price_list import PriceList
from reconciler.providers.registry import provider_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequestSpec
    from growth.api.written import ServerTypeName
    from reconciler.core.world import World
    from reconciler.providers.kind import ListedPrices
    from reconciler.providers.port import ClassKey, Offering

SHIPPED = "shipped with growth"
DataKey = tuple[str, str, str]
"""Namespace and name of a ConfigMap, and a key in its data."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The currency and date of the prices, so that readers can judge them."""

    currency: str
    date: str
    origin: str
    """The file, or that they are shipped with growth."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """A price list, and where it comes from."""

    listed: PriceList
    found: str

    @property
    def origin(self) -> Origin:
        """The origin as text."""
        return Origin(
            currency=self.listed.currency, date=self.listed.date.isoformat(), origin=self.found
        )


class NotOffered(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A type or location of a pool that can't be bought."""

    pool: str
    what: str
    """A type or a location."""
    reason: str


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a plan's prices, estimates, and what can't be bought."""

    origin: Origin | None
    """None if no pool uses a price list."""
    estimated: frozenset[tuple[str, str, str]]
    """Pool, type and location of offers with an estimated price."""
    not_offered: tuple[NotOffered, ...]

    def is_estimated(self, spec: NodeRequestSpec) -> bool:
        """Whether the price of this machine is an estimate."""
        return (spec.pool, spec.server_type.canonical, spec.location) in self.estimated


def bill_of(world: World, prices: Prices) -> Bill:
    """The bill, which depends only on prices and pools."""
    pools = world.pools.values()
    is_listed = any(_listed(_class_of(pool, world)) is not None for pool in pools)
    return Bill(
        origin=prices.origin if is_listed else None,
        estimated=frozenset(_estimates(world, prices)),
        not_offered=tuple(_not_offered(world, prices)),
    )


def prices_from(file: str | None) -> Prices:
    """The price list in the file; without a file, the one shipped with growth."""
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
    """The offerings of each node class."""
    return {
        key: _sold(node_class, prices, config_maps=config_maps, now=now)
        for key, node_class in node_classes.items()
    }


def _sold(
    node_class: NodeClass, prices: Prices, *, config_maps: Mapping[DataKey, str], now: datetime
) -> tuple[Offering, ...]:
    """The offerings of a class: its own, those in its ConfigMap, or those in the price list."""
    kind, reference = provider_kind(node_class), node_class.catalogue_reference
    if reference is not None and kind.catalogue_in is not None:
        named = f"ConfigMap {reference.namespace}/{reference.name}"
        text = config_maps.get((reference.namespace, reference.name, reference.key))
        if text is None:
            raise Misconfigured(
                f'{node_class.kind} "{node_class.name}": spec.catalogueFrom: no {named} '
                f"with the key {reference.key}: add its file"
            )
        return kind.catalogue_in(node_class, text, f"{named}, key {reference.key}")
    own = kind.own_catalogue(node_class)
    if own is not None or kind.listed is None:
        return own or ()
    return kind.listed.offerings(prices.listed, node_class, now)


def _listed(node_class: NodeClass | None) -> ListedPrices[Any] | None:
    """The provider's way to list prices for a class; None if there is no list."""
    return None if node_class is None else provider_kind(node_class).listed


def _estimates(world: World, prices: Prices) -> Iterator[tuple[str, str, str]]:
    for pool in world.pools.values():
        node_class = _class_of(pool, world)
        if (found := _listed(node_class)) is not None:
            for server_type, place in found.estimates(prices.listed, node_class):
                yield pool.name, server_type, place


def _not_offered(world: World, prices: Prices) -> Iterator[NotOffered]:
    """The types and locations of pools that can't be bought, and why."""
    for _, pool in sorted(world.pools.items()):
        own = list(sold_to(pool, world.offerings.get(node_class_of(pool, world), ())))
        types, places = {each.server_type for each in own}, {each.location for each in own}
        for entry in pool.spec.server_types:
            if entry.name not in types:
                reason = _why_not(pool, entry.name, world, prices)
                yield NotOffered(pool=pool.name, what=str(entry.name), reason=reason)
        for each in pool.spec.locations:
            if own and each.region not in places:
                reason = f"none of its types has a known price in {each.region}"
                yield NotOffered(pool=pool.name, what=each.region, reason=reason)


def _why_not(pool: NodePool, name: ServerTypeName, world: World, prices: Prices) -> str:
    key = node_class_of(pool, world)
    sold = world.offerings.get(key, ())
    is_somewhere = any(each.server_type == name for each in sold)
    node_class = world.node_classes.get(key)
    if node_class is None:
        return "the pool's node class doesn't exist"
    found = _listed(node_class)
    if found is None or is_somewhere:
        return why_missing(name, sold, node_class=key.name)
    return found.why_not(prices.listed, node_class, name)


def _class_of(pool: NodePool, world: World) -> NodeClass | None:
    return world.node_classes.get(node_class_of(pool, world))
