"""Two questions for the solver: which nodes could go, and do exactly their pods fit elsewhere.

The search sees the cluster as it is, with the pods of all nodes that may go as additional demand;
it is quick and returns a set of nodes. The proof is an ordinary planning question in a world
without those nodes: it uses all of the scheduler's rules, and limits still count the old machines,
because they exist next to the new ones for a while.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from growth.demand.pools import pools_of
from growth.scheduling.unsupported import unsupported
from reconciler.buying.market import market, market_in
from reconciler.facts.marks import is_marked
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.requested import all_requests
from reconciler.facts.swap_annotation import place_taken
from reconciler.planning.capacity import ground
from reconciler.planning.problem import planning_problem
from reconciler.replacement.worth import NEAR, RELUCTANCE, OccupiedNode, disturbances
from reconciler.solver import Offer, RenewableNode, Renewal

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
NEEDED: Final = frozenset({*OF_NO_NODE, "requests"})
"""Properties of a pod that the question needs; working them out takes long."""
RESTLESS: Final = "/restless"
"""The group of nodes that may not go yet; no pool can have this name. If the search finds that one
of them should go later, no pods are moved there, as they would move twice."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.buying.market import Market
    from reconciler.core.world import World
    from reconciler.planning.problem import PlanningProblem
    from reconciler.replacement.candidates import ReplacementCandidate


def unbound(pods: Iterable[Pod]) -> list[Pod]:
    """The pods that their owners create when these are evicted, as far as rules can tell."""
    known: dict[Shape, Pod] = {}
    return [_unbound(pod, known) for pod in pods]


def prepared_for_search(pods: Iterable[Pod], *, most: int) -> bool:
    """Whether what the question needs of each pod is worked out; does so for at most `most` pods.

    Pods keep it, so several passes can share this work, and the answer is the same.
    """
    raw = (pod for pod in pods if not vars(pod).keys() >= NEEDED)
    for pod in islice(raw, most):
        for name in NEEDED:
            getattr(pod, name)
    return next(raw, None) is None


def _unbound(pod: Pod, known: dict[Shape, Pod]) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    status = msgspec.structs.replace(pod.status, nominated_node_name="", conditions=())
    made = msgspec.structs.replace(pod, spec=spec, status=status)
    # One pass asks about thousands of pods, so pods of one shape share their derived values.
    like = known.setdefault(pod.shape, made)
    # These are cached properties, which `replace` doesn't carry over. The requests aren't the pod's
    # own: a running pod counts what its containers have been given, a new one what its spec says.
    vars(made).update({name: getattr(pod, name) for name in OF_NO_NODE}, requests=like.requests)
    return made


def renewal(
    found: Sequence[ReplacementCandidate],
    world: World,
    now: Instant,
    *,
    most: Mapping[str, int],
    horizon: float,
    currency: str,
) -> Renewal | None:
    """The question which of these nodes could go; None if there is nothing to ask.

    Only machines with prices in this currency take part, old and new.
    """
    here = without(world, _idle(world))
    asked, standing = _asked([e for e in found if e.currency == currency], here, now, currency)
    if not standing:
        return None
    problem = asked.problem
    known = {offer.name for offer in problem.offers}
    # Planning leaves out spots that are full, but a node may go however full it is.
    full = tuple(
        Offer(name=each.name, capacity=(0,) * len(problem.resources), most=1, exists=True)
        for each in standing
        if each.name not in known
    )
    disturbed = disturbances(
        [OccupiedNode(each.price, each.node, each.pods) for each in standing], horizon=horizon
    )
    return Renewal(
        problem=replace(problem.limited_by_node(), offers=(*problem.offers, *full), minima=()),
        standing=tuple(
            RenewableNode(
                offer=each.name,
                price=each.price,
                holds=Counter(pod.shape for pod in each.pods),
                disturbance=disturbance,
                group=each.pool.name if each.is_quiet else RESTLESS,
            )
            for each, disturbance in zip(standing, disturbed, strict=True)
        ),
        most={**most, RESTLESS: 0},
        # Without the extender, pods don't follow a plan, so waiting for a better one is pointless.
        near=NEAR if world.is_steered else 1.0,
        reluctance=RELUCTANCE if world.is_steered else 1.0,
    )


def _asked(
    found: Sequence[ReplacementCandidate], world: World, now: Instant, currency: str
) -> tuple[PlanningProblem, Sequence[ReplacementCandidate]]:
    """The question, and the nodes all of whose pods are in it."""
    standing = [
        each for each in found if not any(unsupported(pod, world.cluster) for pod in each.pods)
    ]
    sold = market_in(currency, market(world, now))
    # Without the pods of one node, others may have to wait for another plan, so it is asked until
    # none is missing.
    while True:
        asked = _question(_moved(standing), world, sold)
        missing = asked.waiting.keys() | asked.left_out.keys()
        if not missing:
            return asked, standing
        standing = [
            each for each in standing if missing.isdisjoint(p.metadata.uid for p in each.pods)
        ]


def _moved(found: Iterable[ReplacementCandidate]) -> list[Pod]:
    return unbound(pod for each in found for pod in each.pods)


def proof(
    pods: Iterable[Pod],
    gone: frozenset[str],
    world: World,
    sold: Market,
    *,
    closed: frozenset[str] = frozenset(),
) -> PlanningProblem:
    """The problem of these pods without the nodes in `gone`; `closed` nodes take no pods."""
    here = _closing(without(world, gone | _idle(world)), closed)
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
    return tuple(sorted(name for name in _idle(world) if pool_of_node(world.cluster.nodes[name])))


def _idle(world: World) -> frozenset[str]:
    """Nodes without pods: they go by themselves, so a plan doesn't get them for free."""
    return frozenset(name for name, node in world.cluster.nodes.items() if _is_idle(node, world))


def _is_idle(node: Node, world: World) -> bool:
    if is_marked(node):
        return True
    return not world.cluster.occupancy(node.name).keepers and not place_taken(node, world)
