"""Quotas that several offers share: a private network takes a limited number of servers.

The provider reports which servers were in it at its last look, which may be minutes old. Machines
that growth has bought since take a place too, so they are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.facts.node_classes import node_class_of
from reconciler.solver import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.facts.fleet import Fleet
    from reconciler.providers.port import Offering, SharedNetwork


def shared(items: Sequence[Purchasable], fleet: Fleet, world: World) -> tuple[Limit, ...]:
    """What is left of each network for all its offers together."""
    rooms = {room.name: room for item in items for room in item.offering.rooms}
    return tuple(_left(room, items, fleet, world) for _, room in sorted(rooms.items()))


def _left(room: SharedNetwork, items: Sequence[Purchasable], fleet: Fleet, world: World) -> Limit:
    offers = (item.name for item in items if _is_in(room, item.offering))
    return Limit(
        name=f"{room.name} takes {room.most} servers",
        amounts=dict.fromkeys(offers, 1),
        most=max(0, room.most - len(room.taken) - _newcomers(room, fleet, world)),
    )


def _newcomers(room: SharedNetwork, fleet: Fleet, world: World) -> int:
    """Machines of growth that weren't in the network at the provider's last look."""
    pools, ids = _pools_in(room, world), _ids(world)
    return sum(
        # A machine that was ordered but not accepted yet has no id, and takes a place all the same.
        ids.get(name) not in room.taken
        for name, machine in fleet.machines.items()
        if machine.pool in pools
    )


def _pools_in(room: SharedNetwork, world: World) -> frozenset[str]:
    return frozenset(
        name
        for name, pool in world.pools.items()
        if any(_is_in(room, each) for each in world.offerings.get(node_class_of(pool, world), ()))
    )


def _is_in(room: SharedNetwork, offering: Offering) -> bool:
    return any(each.name == room.name for each in offering.rooms)


def _ids(world: World) -> Mapping[str, str]:
    """The provider's IDs of growth's machines, by name."""
    sights = (sight.listing for sight in world.clouds.values() if sight.listing is not None)
    listed = (each for listing in sights for each in listing.machines.values())
    accepted = {
        name: request.status.node_id
        for name, request in world.requests.items()
        if request.status.node_id is not None
    }
    return accepted | {machine.name: machine.machine_id for machine in listed}
