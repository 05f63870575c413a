"""Which nodes are not made any more as their pool and its node class say.

A node has drifted if a new machine would be another one: its type or its place is no more in the
pool, or what the node class says of such machines isn't what it was made from. Prices, limits and
what can be bought now are no drift: they say what to buy next, and what is there serves as well as
before. Labels and taints of the pool are mended on the node itself (mending.py); only a taint that
would throw pods out, past every budget of theirs, is left to a new node. A node that doesn't tell
what it was made from has not drifted for all we know, so an upgrade replaces nothing.
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
    """The nodes that have drifted, by name, each with what has changed, in a few words."""
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
        yield f"{server_type} isn't among the types of its pool any more"
    if made is not None:
        node_class = world.node_classes.get(node_class_of(pool, world))
        yield from _of_place(made, pool)
        yield from _of_class(made, node_class, server_type)


def _of_place(made: Blueprint, pool: NodePool) -> Iterator[str]:
    places = {each.region: each.zones for each in pool.spec.locations}
    if places and made.location not in places:
        yield f"{made.location} isn't among the locations of its pool any more"
    elif (zones := places.get(made.location)) and made.zone not in zones:
        yield f"zone {made.zone} of {made.location} isn't in its pool any more"


def _thrown_out(
    made: Blueprint, nodes: Iterable[Node], pool: NodePool
) -> Iterator[tuple[str, str]]:
    for node in nodes:
        lacking = lacking_taints(pool, made, node)
        found = next((taint for taint in lacking if taint.effect == NO_EXECUTE), None)
        if found is not None:
            yield node.name, f"it lacks the taint {found.text}, which would throw its pods out"


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
