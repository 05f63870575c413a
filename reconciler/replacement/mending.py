"""Applies a pool's changed labels and taints to its existing nodes.

Labels and taints belong to the Node object, not to the machine. Replacing machines for a new label
would move every pod of the pool for something that one patch can change.

Changing and removing them is safe because the node's blueprint records what the pool said when
growth last wrote it. Only what is still as growth wrote it is changed; what people or programs have
set since then stays. One thing is never added to a node in use: a taint with the effect NoExecute,
which would evict pods without regard for their budgets. Such a node has drifted (drift.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.wellknown import TEMPLATE_ANNOTATION
from growth.keeping.marks import is_unregistered
from growth.scheduling.taints import NO_EXECUTE
from reconciler.buying.blueprints import read_blueprint, taints_of
from reconciler.core.actions import Sequence, SetNode, machine, version_of
from reconciler.replacement.nodes_by_blueprint import nodes_by_blueprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from growth.scheduling.taints import Taint
    from reconciler.buying.blueprints import Blueprint
    from reconciler.core.world import World


def mended(world: World) -> Iterator[Sequence]:
    """One write for each node that serves with labels or taints that its pool had before."""
    for make, nodes in nodes_by_blueprint(world).items():
        pool, made = world.pools.get(make.pool), read_blueprint(make.template)
        if pool is None or made is None or _is_as_it_says(made, pool):
            continue
        for node in nodes:
            after = _after(made, pool, node)
            if after != made and _may_be_written(node, pool, world):
                step = _changed(node, before=made, after=after)
                why = "the labels or taints of its pool have changed"
                yield Sequence(subject=machine(node.name), steps=(step,), why=why)


def _is_as_it_says(made: Blueprint, pool: NodePool) -> bool:
    return made.labels == pool.spec.labels and made.taints == taints_of(pool)


def _may_be_written(node: Node, pool: NodePool, world: World) -> bool:
    """Whether this rule may write it: other rules write nodes that come or go."""
    is_coming = is_unregistered(node)
    is_going = node.name in world.removals or pool.metadata.deletion_timestamp is not None
    is_left_alone = is_coming or is_going or world.is_paused(pool.name)
    return not is_left_alone and world.is_free(machine(node.name))


def lacking_taints(pool: NodePool, made: Blueprint, node: Node) -> Iterator[Taint]:
    """Taints that the pool has got since the node was written and that the node doesn't have."""
    there = node.spec.taints
    return (each for each in taints_of(pool) if each not in made.taints and each not in there)


def _after(made: Blueprint, pool: NodePool, node: Node) -> Blueprint:
    """The new blueprint: what the pool says now, except what can't be updated in place."""
    kept = {(each.key, each.effect): each for each in made.taints}
    left = {each for each in lacking_taints(pool, made, node) if each.effect == NO_EXECUTE}
    wanted = (
        # For a taint that the node doesn't get, the blueprint keeps the one before. So the node
        # still counts as drifted.
        kept.get((each.key, each.effect)) if each in left else each
        for each in taints_of(pool)
    )
    taints = tuple(each for each in wanted if each is not None)
    return msgspec.structs.replace(made, labels=dict(pool.spec.labels), taints=taints)


def _changed(node: Node, *, before: Blueprint, after: Blueprint) -> SetNode:
    taints = _taints(node, before=before, after=after)
    return SetNode(
        node=version_of(node),
        labels=dict(_labels(node, before=before, after=after)),
        annotations={TEMPLATE_ANNOTATION: after.text},
        taints=None if taints == node.spec.taints else taints,
    )


def _labels(node: Node, *, before: Blueprint, after: Blueprint) -> Iterator[tuple[str, str | None]]:
    for key in sorted({*before.labels, *after.labels}):
        was, wanted, found = before.labels.get(key), after.labels.get(key), node.labels.get(key)
        if found == was and found != wanted:
            yield key, wanted


def _taints(node: Node, *, before: Blueprint, after: Blueprint) -> tuple[Taint, ...]:
    gone = {taint for taint in before.taints if taint not in after.taints}
    stay = tuple(taint for taint in node.spec.taints if taint not in gone)
    # A taint with another value was set by someone else, unless it is one of those removed here.
    there = {(taint.key, taint.effect) for taint in stay}
    new = (taint for taint in after.taints if taint not in before.taints)
    return (*stay, *(taint for taint in new if (taint.key, taint.effect) not in there))
