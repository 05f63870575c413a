"""Planning without a cluster: the same rules, on what somebody has written down.

Every pod without a node is demand. What the loop does over time is done here in rounds: pods that
can only be judged when others have their places are planned after them.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from growth.api.noderequest import NodeRequest
from growth.demand.demanded import Demanded
from growth.instant import Instant
from growth.scheduling.cluster import cluster_of
from growth.scheduling.pod import Pod
from reconciler.ledger import Ledger
from reconciler.planning.applying import applied
from reconciler.planning.capacity import ground
from reconciler.planning.demand import pools_by_pod, without_place
from reconciler.planning.fleet import Market, fleet
from reconciler.planning.nominations import Nominated
from reconciler.planning.offers import Purchasable, Shelf, asked_for, key_of, shelf
from reconciler.planning.question import question
from reconciler.solver import Plan
from reconciler.timing import Timing
from reconciler.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.nodepool import NodePool
    from growth.scheduling.cluster import Object
    from reconciler.planning.applying import Applied
    from reconciler.planning.question import Question
    from reconciler.providers.port import ClassKey, Offering
    from reconciler.solver import Problem
    from reconciler.world import NodeClass

NOW = Instant(0.0, datetime(2026, 1, 1, tzinfo=UTC))
"""On paper it is always the same moment."""


class OnPaper(msgspec.Struct, frozen=True, kw_only=True):
    """What would be bought, who would run where, and who would have no place."""

    requests: Mapping[str, NodeRequest]
    items: Mapping[str, Purchasable]
    """The offer of each request, by its name."""
    pods: Mapping[str, tuple[Pod, ...]]
    """Who would run on each machine, by its name: requests, and nodes that are there."""
    unplaced: tuple[tuple[Pod, str], ...]
    plans: tuple[Plan, ...]
    """One for each round; nearly always there is one."""


def world_of(
    objects: Iterable[Object],
    *,
    pools: Iterable[NodePool],
    node_classes: Mapping[ClassKey, NodeClass],
    offerings: Mapping[ClassKey, tuple[Offering, ...]],
) -> World:
    """A world in which nothing moves."""
    cluster_objects = list(objects)
    return World(
        cluster=cluster_of(cluster_objects),
        pending={
            each.metadata.uid: each
            for each in cluster_objects
            if isinstance(each, Pod) and not each.place and not each.is_finished
        },
        demand=Demanded(),
        pools={pool.name: pool for pool in pools},
        node_classes=node_classes,
        requests={},
        removals={},
        offerings=offerings,
        answers={},
        busy=frozenset(),
        sources={},
        timing=Timing(),
        seed=0,
        ledger=Ledger(),
    )


def planned(world: World, solve: Callable[[Problem], Plan]) -> OnPaper:
    """The plan for all pods that have no node."""
    return _Rounds(world, solve).run()


class _Rounds:
    """Plans on top of each other, until everybody is planned or known to have no place."""

    def __init__(self, world: World, solve: Callable[[Problem], Plan]) -> None:
        self._world = world
        self._solve = solve
        self._items = shelf(world, Shelf()).items
        self._numbers = itertools.count(1)
        self._nominated = Nominated()
        self._requests: dict[str, NodeRequest] = {}
        self._left_out: dict[str, str] = {}
        self._plans: list[Plan] = []

    def run(self) -> OnPaper:
        """Round after round, as long as one brings somebody a place that others wait for."""
        pools, self._left_out = pools_by_pod(self._world.pending, self._world)
        waits: Mapping[str, str] = dict.fromkeys(pools, "")
        while waits:
            asked, result = self._round(pools)
            self._keep(result)
            waits = asked.waiting
            if not result.places:
                self._left_out |= waits
                break
        return self._told()

    def _round(self, pools: Mapping[str, frozenset[str]]) -> tuple[Question, Applied]:
        world = msgspec.structs.replace(self._world, requests=self._requests)
        waiting = {
            uid: pod
            for uid, pod in without_place(world.pending, self._nominated).items()
            if uid not in self._left_out
        }
        market = Market(items=self._items, fleet=fleet(world, self._requests.values()))
        asked = question(
            waiting.values(),
            ground(world, self._requests, self._nominated, self._items),
            market,
            pools_of=pools,
            nominated=self._nominated,
        )
        plan = self._solve(asked.problem)
        self._plans.append(plan)
        return asked, applied(
            plan,
            asked,
            world,
            waiting=waiting,
            market=market,
            new_id=lambda: UUID(int=next(self._numbers)),
            now=NOW,
        )

    def _keep(self, result: Applied) -> None:
        self._nominated = self._nominated.with_places(result.places)
        self._requests |= result.requests
        self._left_out |= result.left_out
        gone = "its planned place is taken by a limit: plan it again alone"
        self._left_out |= dict.fromkeys(result.overtaken, gone)

    def _told(self) -> OnPaper:
        pods: defaultdict[str, list[Pod]] = defaultdict(list)
        for uid, place in self._nominated.places.items():
            pods[place.machine].append(self._world.pending[uid])
        left = [(self._world.pending[uid], text) for uid, text in self._left_out.items()]
        return OnPaper(
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
        return next(i for i in self._items if (i.pool.name, key_of(i.offering)) == wanted)
