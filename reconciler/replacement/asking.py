"""The proof that nodes may go: do exactly their pods fit elsewhere?

It is an ordinary planning question in a world without those nodes: it uses all of the scheduler's
rules, and limits still count the old machines, because they exist next to the new ones for a while.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from growth.demand.pools import pools_of
from reconciler.facts.marks import is_marked
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.requested import all_requests
from reconciler.facts.swap_annotation import place_taken
from reconciler.planning.capacity import ground
from reconciler.planning.problem import planning_problem

OF_NO_NODE: Final = (
    "wanted_nodes",
    "affinity_terms",
    "anti_affinity_terms",
    "spread_constraints",
    "host_ports",
    "claims",
    "iscsi_disks",
    "unsupported_words",
    "shape",
)
"""Properties of a pod that don't depend on its node."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.buying.market import Market
    from reconciler.core.world import World
    from reconciler.planning.problem import PlanningProblem


def unbound(pods: Iterable[Pod]) -> list[Pod]:
    """The pods that their owners create when these are evicted, as far as rules can tell."""
    known: dict[Shape, Pod] = {}
    return [unbound_pod(pod, known) for pod in pods]


def unbound_pod(pod: Pod, known: dict[Shape, Pod]) -> Pod:
    """The pod that follows this one; `known` has such pods by shape, and gets this one."""
    spec = msgspec.structs.replace(pod.spec, node_name="")
    status = msgspec.structs.replace(pod.status, nominated_node_name="", conditions=())
    made = msgspec.structs.replace(pod, spec=spec, status=status)
    # One pass asks about thousands of pods, so pods of one shape share their derived values.
    like = known.setdefault(pod.shape, made)
    # These are cached properties, which `replace` doesn't carry over. The requests aren't the pod's
    # own: a running pod counts what its containers have been given, a new one what its spec says.
    vars(made).update({name: getattr(pod, name) for name in OF_NO_NODE}, requests=like.requests)
    return made


def proof(
    pods: Iterable[Pod],
    gone: frozenset[str],
    world: World,
    sold: Market,
    *,
    closed: frozenset[str] = frozenset(),
) -> PlanningProblem:
    """The problem of these pods without the nodes in `gone`; `closed` nodes take no pods."""
    here = _closing(without(world, gone | idle_nodes(world)), closed)
    asked = _question(unbound(pods), here, sold)
    # A minimum that is missing would be bought in the name of the saving. A node that goes counts
    # as a domain until it is gone, so others may not be filled before.
    problem = replace(asked.problem.limited_by_node(), minima=())
    return msgspec.structs.replace(asked, problem=problem)


def _question(pods: Sequence[Pod], world: World, sold: Market) -> PlanningProblem:
    planning = world.ledger.planning
    return planning_problem(
        pods,
        ground(world, all_requests(world), planning.nominated, planning.shelf.items),
        sold,
        # A pod that may use no pool runs on an existing node, and may move to another one.
        pools_of={pod.metadata.uid: pools_of(pod, world.pools) for pod in pods},
        nominated=planning.nominated,
    )


def without(world: World, gone: frozenset[str]) -> World:
    """The world without these nodes and the pods on them."""
    cluster = world.cluster
    nodes = {name: node for name, node in cluster.nodes.items() if name not in gone}
    held = {name: each for name, each in cluster.occupancies.items() if name not in gone}
    cluster = msgspec.structs.replace(cluster, nodes=nodes, occupancies=held)
    requests = {name: each for name, each in world.requests.items() if name not in gone}
    return msgspec.structs.replace(world, cluster=cluster, requests=requests)


def _closing(world: World, closed: frozenset[str]) -> World:
    nodes = dict(world.cluster.nodes)
    for name in closed & nodes.keys():
        spec = msgspec.structs.replace(nodes[name].spec, unschedulable=True)
        nodes[name] = msgspec.structs.replace(nodes[name], spec=spec)
    cluster = msgspec.structs.replace(world.cluster, nodes=nodes)
    return msgspec.structs.replace(world, cluster=cluster)


def idle(world: World) -> tuple[str, ...]:
    """The idle nodes of growth's pools, by name."""
    nodes = world.cluster.nodes
    return tuple(sorted(name for name in idle_nodes(world) if pool_of_node(nodes[name])))


def idle_nodes(world: World) -> frozenset[str]:
    """Nodes without pods: they go by themselves, so a plan doesn't get them for free."""
    return frozenset(name for name, node in world.cluster.nodes.items() if _is_idle(node, world))


def _is_idle(node: Node, world: World) -> bool:
    if is_marked(node):
        return True
    return not world.cluster.occupancy(node.name).keepers and not place_taken(node, world)
