"""What listings say about a request's machine: that it exists, or that it doesn't.

A machine belongs to a request if it has the request's name and uid. That there is none is certain
only after two complete and believed listings in a row, both begun after the last moment at which
the machine could have been created: a single one may miss a machine that was created just before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey, Listing, Machine


def pool_of_request(request: NodeRequest, world: World) -> NodePool | None:
    """The pool of a request; None if there is none, or another one of the same name."""
    pool = world.pools.get(request.spec.pool)
    if pool is None:
        return None
    # A pool that was deleted and created again under its name doesn't own the requests of the first
    # one.
    for each in request.metadata.owner_references:
        if each.kind == pool.kind and each.uid != pool.metadata.uid:
            return None
    return pool


def machine_of_request(request: NodeRequest, world: World) -> Machine | None:
    """The machine of a request, as it was listed last."""
    listings = (listing for key in _clouds(request, world) for listing in _listings(key, world))
    shown = (_found(request, listing) for listing in listings)
    return next((each for each in shown if each is not None), None)


def machine_is_gone(request: NodeRequest, world: World, *, since: float) -> bool:
    """Whether there is no machine, of those that could have been made until a moment.

    If the node class is gone there is no cloud to ask; its machines are found when it is back.
    """
    return all(_is_without(request, key, world, since=since) for key in _clouds(request, world))


def _clouds(request: NodeRequest, world: World) -> tuple[ClassKey, ...]:
    """The providers that may have its machine: all of them if its pool is gone."""
    pool = pool_of_request(request, world)
    if pool is None:
        return tuple(sorted(world.node_classes))
    key = node_class_of(pool, world)
    return (key,) if key in world.node_classes else ()


def _listings(key: ClassKey, world: World) -> Iterator[Listing]:
    sight = world.clouds.get(key)
    if sight is not None and sight.listing is not None:
        yield sight.listing


def _found(request: NodeRequest, listing: Listing) -> Machine | None:
    shown = listing.machines.get(request.name)
    return shown if shown is not None and shown.request_uid == request.metadata.uid else None


def _is_without(request: NodeRequest, key: ClassKey, world: World, *, since: float) -> bool:
    sight = world.clouds.get(key)
    if sight is None or sight.listing is None or sight.before is None:
        return False
    # The listing may be that of another project, or cut short.
    if not world.ledger.brakes.believes(key):
        return False
    return all(
        listing.at.monotonic > since and _found(request, listing) is None
        for listing in (sight.listing, sight.before)
    )
