"""Writes the deletion cost of pods that have a node of growth's, some at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from growth.api.deletion_cost import DELETION_COST, PodDeletionCost
from reconciler.core.actions import Sequence, SetDeletionCost, pod_subject
from reconciler.core.decision import NEVER, Decision
from reconciler.departure.cost import cost_on
from reconciler.facts.fleet import nodes_of_pools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.departure.ledger import DepartureLedger

BETWEEN_LOOKS: Final = 1.0
"""Seconds."""
AT_ONCE: Final = 50
"""Pods in one look."""
A_FEW: Final = 5
"""The same while pods with a place aren't bound yet: they must not wait for the API server because
of an order that matters only later."""


def decide(world: World, now: Instant) -> Decision[DepartureLedger]:
    """The cost of pods that have none yet."""
    before = world.ledger.departure
    unsettled = sorted(_unsettled(before, world))
    if not unsettled:
        return Decision(section=before)
    if before.looked_at is not None and now.monotonic < before.looked_at + BETWEEN_LOOKS:
        return Decision(section=before, wake_at=before.looked_at + BETWEEN_LOOKS)
    wanted = {name: tuple(_wanted(name, world)) for name in unsettled}
    done = {name: world.cluster.occupancy(name) for name in unsettled if not wanted[name]}
    known = {**before.settled, **done}
    settled = {name: held for name, held in known.items() if name in world.cluster.nodes}
    free = (each for each in chain(*wanted.values()) if world.is_free(each.subject))
    return Decision(
        section=replace(before, looked_at=now.monotonic, settled=settled),
        sequences=tuple(islice(free, A_FEW if _are_bound_now(world) else AT_ONCE)),
        wake_at=now.monotonic + BETWEEN_LOOKS if len(done) < len(unsettled) else NEVER,
    )


def _unsettled(ledger: DepartureLedger, world: World) -> Iterator[str]:
    """The nodes of pools for which growth acts, if their pods have changed since the last look."""
    if world.deletion_cost is PodDeletionCost.UNTOUCHED:
        return
    for name, counted in nodes_of_pools(world).items():
        # Each change of a pod makes another value, so it is enough to compare identities.
        is_news = world.cluster.occupancy(name) is not ledger.settled.get(name)
        if is_news and not world.only_observes(counted.pool):
            yield name


def _are_bound_now(world: World) -> bool:
    return bool(world.ledger.planning.nominated.places)


def _wanted(name: str, world: World) -> Iterator[Sequence]:
    cost = cost_on(world.cluster.nodes[name])
    if cost is None:
        return
    for pod in world.cluster.occupancy(name).pods:
        if _lacks_cost(pod):
            metadata = pod.metadata
            step = SetDeletionCost(
                namespace=metadata.namespace, name=metadata.name, uid=metadata.uid, cost=cost
            )
            why = "its deletion cost is missing"
            yield Sequence(subject=pod_subject(pod), steps=(step,), why=why)


def _lacks_cost(pod: Pod) -> bool:
    """Whether it is of a ReplicaSet, which alone reads the cost, and nobody has said one."""
    controller = pod.metadata.controller
    is_of_replicas = controller is not None and controller.kind == "ReplicaSet"
    is_said = DELETION_COST in pod.metadata.annotations
    # A pod that is only nominated to the node is on it, too, and may still go elsewhere.
    is_there = bool(pod.spec.node_name) and not pod.is_terminating
    return is_of_replicas and is_there and not is_said
