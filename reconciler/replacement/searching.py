"""The search for nodes that could go: the cluster as it is, with their pods as additional demand.

The answer is a set of nodes, which then has to be proven (reconciler/replacement/asking.py). So it
may be about a world of a few seconds ago. In a cluster of thousands of nodes, stating this question
takes seconds: a pass only decides that it is asked, and of what, and effects state it in a thread.
Pods of one shape are one class, so only one pod of each shape is looked at as a new pod.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.demand.pools import pools_of
from growth.scheduling.unsupported import unsupported
from reconciler.buying.market import market, market_in
from reconciler.facts.requested import all_requests
from reconciler.planning.capacity import ground
from reconciler.planning.problem import AlikePods, problem_of_classes
from reconciler.replacement.asking import idle_nodes, unbound_pod, without
from reconciler.replacement.worth import NEAR, RELUCTANCE, OccupiedNode, disturbances
from reconciler.solver import Offer, Problem, RenewableNode, Renewal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.core.world import World
    from reconciler.planning.problem import PlanningProblem
    from reconciler.replacement.candidates import ReplacementCandidate

RESTLESS: Final = "/restless"
"""The group of nodes that may not go yet; no pool can have this name. If the search finds that one
of them should go later, no pods are moved there, as they would move twice."""
NOTHING_TO_ASK: Final = Renewal(
    problem=Problem(resources=(), classes=(), offers=()),
    standing=(),
)


@dataclass(frozen=True, kw_only=True)
class ReplacementSearch:
    """Which of these nodes could go? Only machines with prices in one currency take part."""

    found: Sequence[ReplacementCandidate]
    world: World
    now: Instant
    most: Mapping[str, int]
    """How many nodes of each pool may go."""
    horizon: float
    currency: str

    @property
    def here(self) -> tuple[ReplacementCandidate, ...]:
        """The nodes that are paid in this currency."""
        return tuple(each for each in self.found if each.currency == self.currency)

    def stated(self) -> Renewal:
        """The question for the solver; an empty one if none of the nodes can be asked about."""
        world = without(self.world, idle_nodes(self.world))
        sold = market_in(self.currency, market(world, self.now))
        asked, standing = _asked(_supported(self.here, world.cluster), world, sold)
        return self._renewal(asked.problem, standing) if standing else NOTHING_TO_ASK

    def _renewal(self, problem: Problem, standing: Sequence[_Standing]) -> Renewal:
        is_steered = self.world.is_steered
        return Renewal(
            problem=replace(
                problem.limited_by_node(),
                offers=(*problem.offers, *_full(problem, standing)),
                minima=(),
            ),
            standing=tuple(self._renewable(standing)),
            most={**self.most, RESTLESS: 0},
            # Without the extender, pods don't follow a plan, so waiting for a better one is
            # pointless.
            near=NEAR if is_steered else 1.0,
            reluctance=RELUCTANCE if is_steered else 1.0,
        )

    def _renewable(self, standing: Sequence[_Standing]) -> Iterator[RenewableNode]:
        nodes = [each.node for each in standing]
        disturbed = disturbances(
            [OccupiedNode(each.price, each.node, each.pods) for each in nodes], horizon=self.horizon
        )
        for each, disturbance in zip(standing, disturbed, strict=True):
            yield RenewableNode(
                offer=each.name,
                price=each.node.price,
                holds=each.holds,
                disturbance=disturbance,
                group=each.node.pool.name if each.node.is_quiet else RESTLESS,
            )


class _Standing(NamedTuple):
    """A node that may go, and how many pods of each shape it holds."""

    node: ReplacementCandidate
    holds: Mapping[str, int]

    @property
    def name(self) -> str:
        return self.node.name


def _supported(found: Iterable[ReplacementCandidate], cluster: Cluster) -> list[_Standing]:
    """The nodes none of whose pods uses unsupported features."""
    known: dict[tuple[object, ...], bool] = {}
    return [
        _Standing(each, Counter[str](pod.shape for pod in each.pods))
        for each in found
        if all(_is_supported(pod, cluster, known) for pod in each.pods)
    ]


def _is_supported(pod: Pod, cluster: Cluster, known: dict[tuple[object, ...], bool]) -> bool:
    # What isn't in the shape: what the pod itself names, and the claims of ephemeral volumes.
    if pod.claims:
        return not unsupported(pod, cluster)
    key = (pod.shape, pod.unsupported_words)
    if key not in known:
        known[key] = not unsupported(pod, cluster)
    return known[key]


def _asked(
    standing: list[_Standing], world: World, sold: Market
) -> tuple[PlanningProblem, list[_Standing]]:
    """The question, and the nodes all of whose pods are in it."""
    # Without the pods of one node, others may have to wait for another plan, so it is asked until
    # none is missing.
    while True:
        classes = _classes(standing, world)
        asked = _question(classes, world, sold)
        missing = {each.name for each in classes if not asked.waiting.keys().isdisjoint(each.uids)}
        if not missing:
            return asked, standing
        standing = [each for each in standing if missing.isdisjoint(each.holds)]


def _classes(standing: Iterable[_Standing], world: World) -> list[AlikePods]:
    """The pods of these nodes as they will be created again, one for each shape."""
    number: Counter[str] = Counter()
    likes: dict[str, Pod] = {}
    for each in standing:
        number.update(each.holds)
        for pod in each.node.pods:
            likes.setdefault(pod.shape, pod)
    return [_class(shape, likes[shape], number[shape], world) for shape in sorted(number)]


def _class(shape: str, pod: Pod, number: int, world: World) -> AlikePods:
    # A pod that may use no pool runs on an existing node, and may move to another one.
    pools = pools_of(pod, world.pools)
    # The answer names no pods, so the one that was looked at stands for all of them.
    return AlikePods(shape, unbound_pod(pod, {}), number, pools, (pod.metadata.uid,))


def _question(classes: Sequence[AlikePods], world: World, sold: Market) -> PlanningProblem:
    planning = world.ledger.planning
    here = ground(world, all_requests(world), planning.nominated, planning.shelf.items)
    return problem_of_classes(classes, here, sold, nominated=planning.nominated)


def _full(problem: Problem, standing: Iterable[_Standing]) -> Iterator[Offer]:
    # Planning leaves out spots that are full, but a node may go however full it is.
    known = {offer.name for offer in problem.offers}
    for each in standing:
        if each.name not in known:
            none = (0,) * len(problem.resources)
            yield Offer(name=each.name, capacity=none, most=1, exists=True)
