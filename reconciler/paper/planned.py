"""Planning on paper: the same rules, on objects from files or a snapshot of a cluster.

Every pod that a new node could help is demand. What the loop does over time happens here in rounds:
pods that can only be judged when others have places are planned after them. Machines on their way
are used for the pods that they were bought for, and refused offers aren't bought.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from growth.api.noderequest import NodeRequest
from growth.demand.demanded import Demanded
from growth.demand.detection import PodProgress, standing
from growth.instant import Instant
from growth.scheduling.cluster import cluster_of
from growth.scheduling.pod import Pod
from reconciler.buying.market import market
from reconciler.buying.offers import Purchasable, Shelf, asked_for, offer_key, shelf
from reconciler.buying.refusals import Refusals, refusals
from reconciler.core.timing import Timing
from reconciler.core.world import World
from reconciler.ledger import Ledger
from reconciler.planning.applying import apply_plan
from reconciler.planning.capacity import ground
from reconciler.planning.demand import pools_by_pod, without_place
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, carried_on
from reconciler.planning.problem import planning_problem
from reconciler.solver import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool
    from growth.api.noderecord import NodeRecord
    from growth.scheduling.cluster import Object
    from reconciler.planning.applying import Applied
    from reconciler.planning.problem import PlanningProblem
    from reconciler.providers.port import ClassKey, Offering
    from reconciler.solver import Problem

NOW = Instant(0.0, datetime(2026, 1, 1, tzinfo=UTC))
"""On paper it is always the same moment."""
WAITING = frozenset({PodProgress.UNREACHED, PodProgress.UNSCHEDULABLE})
"""A pod in a file is one that no scheduler has reached."""


class PlanOnPaper(msgspec.Struct, frozen=True, kw_only=True):
    """The machines that would be bought, the places of pods, and the pods without a place."""

    requests: Mapping[str, NodeRequest]
    items: Mapping[str, Purchasable]
    """The offer of each request, by its name."""
    pods: Mapping[str, tuple[Pod, ...]]
    """The pods on each machine by its name: new requests, and existing nodes."""
    unplaced: tuple[tuple[Pod, str], ...]
    plans: tuple[Plan, ...]
    """One for each round; nearly always there is one."""


def world_of(
    objects: Iterable[Object],
    *,
    pools: Iterable[NodePool],
    node_classes: Mapping[ClassKey, NodeClass],
    offerings: Mapping[ClassKey, tuple[Offering, ...]],
    requests: Iterable[NodeRequest] = (),
    records: Iterable[NodeRecord] = (),
) -> World:
    """A world in which nothing moves."""
    cluster_objects = list(objects)
    return World(
        cluster=cluster_of(cluster_objects),
        pending={
            each.metadata.uid: each
            for each in cluster_objects
            if isinstance(each, Pod) and standing(each) in WAITING
        },
        demand=Demanded(),
        pools={pool.name: pool for pool in pools},
        node_classes=node_classes,
        requests={request.name: request for request in requests},
        removals={},
        records={record.name: record for record in records},
        offerings=offerings,
        answers={},
        busy=frozenset(),
        sources={},
        timing=Timing(),
        seed=0,
        ledger=Ledger(),
    )


def plan_offline(
    world: World, solve: Callable[[Problem], Plan], *, now: Instant = NOW
) -> PlanOnPaper:
    """The plan for all pods that have no node."""
    return _Rounds(world, solve, now=now).run()


class _Rounds:
    """Plans that build on each other, until every pod has a place or is known to have none."""

    def __init__(self, world: World, solve: Callable[[Problem], Plan], *, now: Instant) -> None:
        self._shelf = shelf(world, Shelf())
        known = PlanningLedger(shelf=self._shelf, refusals=refusals(Refusals(), world, now)[0])
        self._world = world.remembering(replace(world.ledger, planning=known))
        self._solve = solve
        self._now = now
        self._numbers = itertools.count(1)
        self._nominated = carried_on(Nominated(), world, world.requests, now)
        self._requests: dict[str, NodeRequest] = {}
        self._left_out: dict[str, str] = {}
        self._plans: list[Plan] = []

    def run(self) -> PlanOnPaper:
        """Plans in rounds, as long as a round gives a place to a pod that others wait for."""
        pools, self._left_out = pools_by_pod(self._world.pending, self._world)
        waits: Mapping[str, str] = dict.fromkeys(pools, "")
        while waits or (not self._plans and market(self._world, self._now).minima()):
            asked, result = self._round(pools)
            self._keep(result)
            waits = asked.waiting
            if not result.places:
                self._left_out |= waits
                break
        return self._plan_on_paper()

    def _round(self, pools: Mapping[str, frozenset[str]]) -> tuple[PlanningProblem, Applied]:
        requests = {**self._world.requests, **self._requests}
        world = msgspec.structs.replace(self._world, requests=requests)
        waiting = {
            uid: pod
            for uid, pod in without_place(world.pending, self._nominated).items()
            if uid not in self._left_out
        }
        sold = market(world, self._now)
        asked = planning_problem(
            waiting.values(),
            ground(world, requests, self._nominated, self._shelf.items),
            sold,
            pools_of=pools,
            nominated=self._nominated,
        )
        plan = self._solve(asked.problem)
        self._plans.append(plan)
        return asked, apply_plan(
            plan,
            asked,
            world,
            waiting=waiting,
            market=sold,
            new_id=lambda: UUID(int=next(self._numbers)),
            now=self._now,
        )

    def _keep(self, result: Applied) -> None:
        self._nominated = self._nominated.with_places(result.places)
        self._requests |= result.requests
        self._left_out |= result.left_out
        gone = "its planned place is taken by a limit: plan it again alone"
        self._left_out |= dict.fromkeys(result.overtaken, gone)

    def _plan_on_paper(self) -> PlanOnPaper:
        pods: defaultdict[str, list[Pod]] = defaultdict(list)
        for uid, place in self._nominated.places.items():
            pods[place.machine].append(self._world.pending[uid])
        left = [(self._world.pending[uid], text) for uid, text in self._left_out.items()]
        return PlanOnPaper(
            requests=self._requests,
            items={name: self._item_of(request) for name, request in self._requests.items()},
            pods={
                name: tuple(sorted(each, key=lambda pod: pod.name)) for name, each in pods.items()
            },
            unplaced=tuple(sorted(left, key=lambda one: (-one[0].spec.priority, one[0].name))),
            plans=tuple(self._plans),
        )

    def _item_of(self, request: NodeRequest) -> Purchasable:
        wanted = request.spec.pool, asked_for(request.spec)
        return next(i for i in self._shelf.items if (i.pool.name, offer_key(i.offering)) == wanted)
