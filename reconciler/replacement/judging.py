"""Whether a plan for the removal of nodes is good enough to be carried out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from growth.api.disruption import DisruptionReason
from reconciler.core.actions import machine
from reconciler.facts.keeping_scene import scene_of
from reconciler.replacement.candidates import price_of_node
from reconciler.replacement.kept import kept_from
from reconciler.replacement.rehearsal import Preference, left_over, with_slack
from reconciler.replacement.worth import OccupiedNode, disturbances, pays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.planning.applying import Applied
    from reconciler.planning.problem import PlanningProblem
    from reconciler.replacement.ledger import PendingProof
    from reconciler.solver import Plan


def culprits(asked: PendingProof, result: Applied, world: World) -> frozenset[str]:
    """The nodes with pods that the plan has no place for."""
    if asked.reason is DisruptionReason.UNHEALTHY:
        # The pods of a sick node are unreachable: waiting for a better plan doesn't help them.
        return frozenset()
    question = asked.question
    left = {*result.left_out, *result.overtaken, *question.waiting, *question.left_out}
    return frozenset(
        name for name in asked.nodes if left & uids(world.cluster.occupancy(name).keepers)
    )


def have_room(question: PlanningProblem, plan: Plan, world: World) -> bool:
    """Whether all pods find a place if nothing more may be bought.

    The solver may not find a very tight plan twice; then it is enough if the scheduler finds room
    by itself.
    """
    if question.waiting or question.left_out:
        return False
    return not plan.unplaced or not left_over(question, plan, preference(world))


def preference(world: World) -> Preference:
    """Which nodes the scheduler fills first."""
    return Preference.FULLEST if world.is_steered else Preference.EMPTIEST


def steadied(asked: PendingProof, plan: Plan, world: World) -> Plan | None:
    """A plan that also works if the scheduler doesn't follow it: this one, or one machine more."""
    if asked.reason is DisruptionReason.UNHEALTHY:
        return plan
    if not left_over(asked.question, plan, preference(world)):
        return plan
    return with_slack(asked.question, plan, preference(world))


def unsteady(asked: PendingProof, plan: Plan, world: World) -> frozenset[str]:
    """Nodes that stay so that all pods find room without following the plan.

    Of all nodes with such pods the fullest stay: that costs the least saving and keeps most room.
    """
    if asked.reason is DisruptionReason.UNHEALTHY:
        return frozenset()
    missing = Counter(left_over(asked.question, plan, preference(world)))
    held = {
        name: Counter(pod.shape for pod in world.cluster.occupancy(name).keepers)
        for name in asked.nodes
    }
    found: set[str] = set()
    # A pod that is left over has a class and no name, so any node that holds one of its class will
    # do.
    for name in sorted(held, key=lambda name: (-held[name].total(), name)):
        if any(missing[shape] > 0 for shape in held[name]):
            found.add(name)
            missing.subtract(held[name])
    return frozenset(found)


def is_worth_it(asked: PendingProof, result: Applied, world: World, *, horizon: float) -> bool:
    """Whether to carry it out: at any price if nodes have to go, otherwise for enough saving."""
    match asked.reason:
        case DisruptionReason.UNHEALTHY | DisruptionReason.DRIFT:
            return True
        case DisruptionReason.CONSOLIDATION:
            return _saves_enough(asked, result, world, horizon=horizon)
        case _:
            assert_never(asked.reason)


def has_changed(asked: PendingProof, world: World, now: Instant) -> bool:
    """Whether any of the nodes has changed since the question, or is kept by now."""
    scene = scene_of(world)
    return any(
        name not in world.cluster.nodes
        or not world.is_free(machine(name))
        or kept_from(asked.reason, world.cluster.nodes[name], scene, now) is not None
        or uids(world.cluster.occupancy(name).keepers) != pods
        for name, pods in asked.nodes.items()
    )


def uids(pods: Iterable[Pod]) -> frozenset[str]:
    """The uids of these pods."""
    return frozenset(pod.metadata.uid for pod in pods)


def pods_to_move(names: Iterable[str], world: World) -> list[Pod]:
    """The pods on these nodes that would need another place."""
    return [pod for name in names for pod in world.cluster.occupancy(name).keepers]


def _saves_enough(asked: PendingProof, result: Applied, world: World, *, horizon: float) -> bool:
    after = sum(int(each.spec.price * 1_000_000) for each in result.requests.values())
    cluster = world.cluster
    nodes = [
        OccupiedNode(
            price_of_node(name, world), cluster.nodes[name], cluster.occupancy(name).keepers
        )
        for name in asked.nodes
    ]
    before = sum(each.price for each in nodes)
    disturbed = sum(disturbances(nodes, horizon=horizon))
    return pays(before=before, after=after, disturbed=disturbed, horizon=horizon)
