"""Which nodes no longer match their pool and its node class.

A node has drifted if a new machine would be different: its type or location is no longer in the
pool, or the node class has changed in a way that concerns it. Prices, limits and availability are
no drift: they decide what to buy next, but existing nodes serve as well as before. Labels and
taints of the pool are applied to the node itself (mending.py), except for a taint that would evict
pods without regard for their budgets: that needs a new node. A node that doesn't record what it was
created from hasn't drifted as far as growth can tell, so an upgrade of growth replaces nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.written import ServerTypeName
from growth.scheduling.taints import NO_EXECUTE
from reconciler.buying.blueprints import DIGEST, parts_of, read_blueprint, taints_of
from reconciler.facts.node_classes import node_class_of
from reconciler.replacement.mending import lacking_taints
from reconciler.replacement.nodes_by_blueprint import nodes_by_blueprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.buying.blueprints import Blueprint
    from reconciler.core.world import World
    from reconciler.replacement.nodes_by_blueprint import NodeMake


def drifted(world: World) -> Mapping[str, str]:
    """The nodes that have drifted, by name, each with a short text of what has changed."""
    return dict(sorted(_drifted(world)))


def _drifted(world: World) -> Iterator[tuple[str, str]]:
    for make, nodes in nodes_by_blueprint(world).items():
        pool = world.pools.get(make.pool)
        if pool is None:
            continue
        made = read_blueprint(make.template)
        change = next(_changes(make, made, pool, world), "")
        if change:
            yield from ((node.name, change) for node in nodes)
        elif made is not None and any(taint.effect == NO_EXECUTE for taint in taints_of(pool)):
            yield from _thrown_out(made, nodes, pool)


def _changes(make: NodeMake, made: Blueprint | None, pool: NodePool, world: World) -> Iterator[str]:
    server_type = ServerTypeName(make.server_type)
    if all(entry.name != server_type for entry in pool.spec.server_types):
        yield f"{server_type} is no longer among the types of its pool"
    if made is not None:
        node_class = world.node_classes.get(node_class_of(pool, world))
        yield from _of_place(made, pool)
        yield from _of_class(made, node_class, server_type)


def _of_place(made: Blueprint, pool: NodePool) -> Iterator[str]:
    places = {each.region: each.zones for each in pool.spec.locations}
    if places and made.location not in places:
        yield f"{made.location} is no longer among the locations of its pool"
    elif (zones := places.get(made.location)) and made.zone not in zones:
        yield f"zone {made.zone} of {made.location} is no longer in its pool"


def _thrown_out(
    made: Blueprint, nodes: Iterable[Node], pool: NodePool
) -> Iterator[tuple[str, str]]:
    for node in nodes:
        lacking = lacking_taints(pool, made, node)
        found = next((taint for taint in lacking if taint.effect == NO_EXECUTE), None)
        if found is not None:
            yield node.name, f"it lacks the taint {found.text}, which would evict its pods"


def _of_class(
    made: Blueprint, node_class: NodeClass | None, server_type: ServerTypeName
) -> Iterator[str]:
    now = parts_of(node_class, server_type, architecture=made.architecture)
    if made.parts is None or now is None:
        return
    for name in sorted({*made.parts, *now}):
        before, after = made.parts.get(name, ""), now.get(name, "")
        if before != after:
            yield _difference(name, before, after)


def _difference(name: str, before: str, after: str) -> str:
    if DIGEST in before + after:
        return f"{name} of its node class has changed"
    was, is_now = (value or "the default" for value in (before, after))
    return f"{name} of its node class is {is_now}, and was {was}"
