"""Which machine would be bought for a pod: the cheapest that fits it, of those that may be bought.

What fits a shape of pods is worked out once and remembered for as long as nothing changes that it
depends on. What may be bought now is asked each time: no maximum is exceeded, and what the provider
has none of isn't asked for again while a request still says so.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, assert_never

import msgspec

from growth.api.nodepool import NodePool
from growth.api.noderequest import RequestPhase, UnmetScope
from growth.api.wellknown import DEFAULT_NODE_CLASS, INSTANCE_TYPE_LABEL, POOL_LABEL
from growth.api.written import ServerTypeName
from growth.demand.pools import pools_of
from growth.scheduling.daemonsets import daemon_pods
from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits
from reconciler.planning.templates import template
from reconciler.providers.port import ClassKey, Offering

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.pod import Pod
    from reconciler.world import World

Counts = Counter[tuple[str, ServerTypeName]]
"""Machines of each pool and type, wherever they are on their way."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that could be bought for a pod."""

    pool: NodePool
    offering: Offering


class Fitting(NamedTuple):
    """The machines that would hold a pod, the cheapest first."""

    choices: tuple[Choice, ...]
    seen: tuple[object, ...]


class Refusal(NamedTuple):
    """What a provider has none of; what is left out stands for all of it."""

    node_class: ClassKey
    location: str = ""
    server_type: ServerTypeName | None = None


def counts(world: World, known: Iterable[NodeRequest]) -> Counts:
    """Every machine that there is or will be: a request is deleted long before its node."""
    sorts = dict(world.cluster.remembered("sorts of nodes", lambda: _sorts(world)))
    for request in known:
        if request.status.phase is not RequestPhase.UNMET:
            sorts[request.name] = request.spec.pool, request.spec.server_type
    return Counter(sorts.values())


def _sorts(world: World) -> dict[str, tuple[str, ServerTypeName]]:
    return {
        node.name: (
            node.labels.get(POOL_LABEL, ""),
            ServerTypeName(node.labels[INSTANCE_TYPE_LABEL]),
        )
        for node in world.cluster.nodes.values()
        if INSTANCE_TYPE_LABEL in node.labels
    }


def refused(world: World) -> frozenset[Refusal]:
    """What the provider has none of, for as long as a request says so."""
    return frozenset(
        _refusal(request, node_class_of(world.pools[request.spec.pool], world))
        for request in world.requests.values()
        if request.status.phase is RequestPhase.UNMET and request.spec.pool in world.pools
    )


def _refusal(request: NodeRequest, node_class: ClassKey) -> Refusal:
    match request.status.unmet_scope:
        case UnmetScope.PROJECT:
            return Refusal(node_class)
        case UnmetScope.LOCATION:
            return Refusal(node_class, request.spec.location)
        case UnmetScope.OFFER | None:
            return Refusal(node_class, request.spec.location, request.spec.server_type)
        case _:
            assert_never(request.status.unmet_scope)


def _is_refused(choice: Choice, world: World, refused: frozenset[Refusal]) -> bool:
    key, offering = node_class_of(choice.pool, world), choice.offering
    exact = Refusal(key, offering.location, offering.server_type)
    return not refused.isdisjoint({exact, Refusal(key, offering.location), Refusal(key)})


def cheapest(
    pod: Pod, world: World, *, counts: Counts, refused: frozenset[Refusal]
) -> Choice | None:
    """The machine to buy for a pod, if there is one."""
    return next(
        (
            choice
            for choice in _fitting(pod, world).choices
            if not _at_maximum(choice, counts)
            and not _is_refused(choice, world, refused)
            and not world.is_paused(choice.pool.name)
        ),
        None,
    )


def _fitting(pod: Pod, world: World) -> Fitting:
    """Worked out once for all pods of a shape, until the cluster, a pool or a price changes."""
    seen = (*world.pools.values(), *world.offerings.values())
    # The answer keeps what it was worked out from, so that no other object gets the same id.
    key = ("fitting", pod.shape, *map(id, seen))
    return world.cluster.remembered(key, lambda: Fitting(_cheapest_first(pod, world), seen))


def _cheapest_first(pod: Pod, world: World) -> tuple[Choice, ...]:
    fitting = (choice for choice in _choices(pod, world) if _fits(pod, choice, world))
    return tuple(
        sorted(
            fitting,
            key=lambda each: (each.offering.price, each.offering.name, each.pool.name),
        )
    )


def _choices(pod: Pod, world: World) -> Iterator[Choice]:
    for name in sorted(pools_of(pod, world.pools)):
        pool = world.pools[name]
        allowed = {entry.name for entry in pool.spec.server_types}
        for offering in world.offerings.get(node_class_of(pool, world), ()):
            if offering.server_type in allowed and _is_sold_in(pool, offering):
                yield Choice(pool=pool, offering=offering)


def node_class_of(pool: NodePool, world: World) -> ClassKey:
    """The node class of a pool: what it names, else the one that is called `default`."""
    reference = pool.spec.node_class_ref
    if reference is not None:
        return ClassKey(reference.kind.value, reference.name)
    found = [key for key in world.node_classes if key.name == DEFAULT_NODE_CLASS]
    return found[0] if len(found) == 1 else ClassKey("", DEFAULT_NODE_CLASS)


def _is_sold_in(pool: NodePool, offering: Offering) -> bool:
    regions = {location.region for location in pool.spec.locations}
    return not regions or offering.location in regions


def _at_maximum(choice: Choice, counts: Counts) -> bool:
    taken = counts[choice.pool.name, choice.offering.server_type]
    entries = choice.pool.spec.server_types
    return any(
        entry.name == choice.offering.server_type and taken >= entry.max for entry in entries
    )


def _fits(pod: Pod, choice: Choice, world: World) -> bool:
    node = template(choice.pool, choice.offering, name="planned")
    daemons = daemon_pods(node, world.cluster.daemon_sets.values())
    return isinstance(verdict(pod, node, world.cluster.with_node(node, pods=daemons)), Fits)
