"""Turns a plan into requests and nominations, as far as the current world still allows it.

While the solver works, the world changes. So pods that are bound, gone or changed are taken out, a
node without pods isn't bought, a node with fewer pods is bought only as large as they need, and
every limit is checked again, node by node. Pods that lose their place this way are planned again in
the next round.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from growth.api.meta import ObjectMeta, PodReference
from growth.api.naming import request_name
from growth.api.noderequest import COMING, NodeRequest, NodeRequestSpec, PlannedWorkload
from growth.api.wellknown import (
    PLAN_ANNOTATION,
    PROVIDER_CLEANUP_FINALIZER,
    TEMPLATE_ANNOTATION,
)
from growth.scheduling.owners import Owner, owner_of, workload_of
from growth.scheduling.resources import CPU, Resources, shown_amount
from reconciler.buying.blueprints import blueprint_of
from reconciler.buying.limits import SetLimit
from reconciler.core.decision import NEVER
from reconciler.facts.ownership import owned_by
from reconciler.facts.requested import all_requests
from reconciler.facts.serving import serves_now
from reconciler.planning.nominations import Nomination
from reconciler.planning.reasons import reason_text, why
from reconciler.planning.sharing import NodeShare, without_stranded
from reconciler.solver import HOSTNAME, Near, UnplacedCause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from uuid import UUID

    from growth.instant import Instant
    from growth.scheduling.metadata import Metadata
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.planning.problem import PlanningProblem
    from reconciler.solver import Plan, PlannedNode

LIMITS = frozenset({UnplacedCause.LIMIT, UnplacedCause.COUNT})
"""Reasons that end when there is room again."""
WRITTEN_PODS = 256
"""How many pods a request names; the rest are only in memory."""
WRITTEN_WORKLOADS = 256
"""How many workloads a request names; the extender doesn't steer pods of the rest."""
T = TypeVar("T")


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a plan in the current world."""

    requests: Mapping[str, NodeRequest]
    places: Mapping[str, Nomination]
    left_out: Mapping[str, str]
    """Pods that the plan has no place for, by uid, with the reason."""
    limited: Mapping[str, SetLimit | None]
    """Pods that would fit without a limit; None if it isn't a user's, such as a used-up offer."""
    overtaken: frozenset[str]
    """Pods whose planned place is gone, by uid."""


def apply_plan(
    plan: Plan,
    question: PlanningProblem,
    world: World,
    *,
    waiting: Mapping[str, Pod],
    market: Market,
    new_id: Callable[[], UUID],
    now: Instant,
) -> Applied:
    """The requests and nominations of a plan; `waiting` are the pods that still need a place."""
    buying = _Buying(question, world, market=market, new_id=new_id, now=now)
    queues = {
        # A pod that was changed since the question may need another node: it is planned again.
        name: deque(uid for uid in uids if uid in waiting and waiting[uid].shape == name)
        for name, uids in question.pods.items()
    }
    announced = {
        name: deque(each.like for each in coming for _ in range(each.number))
        for name, coming in question.announced.items()
    }
    planned = [
        NodeShare(
            node=node,
            pods={name: tuple(waiting[uid] for uid in uids) for name, uids in _taken(node, queues)},
            coming={name: tuple(likes) for name, likes in _taken(node, announced)},
        )
        for node in plan.nodes
    ]
    for before, share in zip(planned, without_stranded(planned, question.problem), strict=True):
        buying.take(share.node, _all(share.pods), coming=_all(share.coming))
        lost = [pod for name in before.pods.keys() - share.pods.keys() for pod in before.pods[name]]
        buying.overtaken += sorted(pod.metadata.uid for pod in lost)
    limits = {
        each.pod_class: question.limits.get(each.reason.rule)
        for each in plan.unplaced
        if each.reason.cause in LIMITS
    }
    reasons = {
        each.pod_class: reason_text(
            each.reason,
            waiting[queues[each.pod_class][0]],
            market.items,
            world,
            limit=limits.get(each.pod_class),
        )
        for each in plan.unplaced
        if queues.get(each.pod_class)
    }
    return Applied(
        requests=buying.requests,
        places=buying.places,
        left_out={
            **{
                uid: reasons[name]
                for name, queue in queues.items()
                if name in reasons
                for uid in queue
            },
            **{uid: text for uid, text in question.left_out.items() if uid in waiting},
        },
        limited={uid: limits[name] for name in limits for uid in queues.get(name, ())},
        overtaken=frozenset(buying.overtaken),
    )


def _taken(node: PlannedNode, queues: Mapping[str, deque[T]]) -> Iterator[tuple[str, list[T]]]:
    """The pods of each class that get a place on the node."""
    for name, count in node.pods.items():
        queue = queues.get(name, deque())
        yield name, [queue.popleft() for _ in range(min(count, len(queue)))]


def _all(by_class: Mapping[str, tuple[T, ...]]) -> list[T]:
    return [each for alike in by_class.values() for each in alike]


class _Buying:
    """The nodes of one plan, one after the other, each looked at with what the others left."""

    def __init__(
        self,
        question: PlanningProblem,
        world: World,
        *,
        market: Market,
        new_id: Callable[[], UUID],
        now: Instant,
    ) -> None:
        self.requests: dict[str, NodeRequest] = {}
        self.places: dict[str, Nomination] = {}
        self.overtaken: list[str] = []
        self._question = question
        self._world = world
        self._requests = all_requests(world)
        self._new_id = new_id
        self._now = now
        self._items = {item.name: item for item in market.items}
        # From the market of now, not from the question: meanwhile replacement may have bought, or a
        # person lowered a limit.
        limits = (each.limit for each in market.limits())
        self._left = {limit.name: (limit.amounts, limit.most) for limit in limits}
        self._most = {item.name: item.most for item in market.items}
        self._allowed = {each.name: each.offers for each in question.problem.classes}

    def take(self, node: PlannedNode, pods: Sequence[Pod], *, coming: Sequence[Pod]) -> None:
        """Nominate the node's pods, and buy the node if it doesn't exist.

        `coming` has one pod for each announced pod that will use the node too.
        """
        if node.offer in self._question.spots:
            is_settled = self._is_there(node.offer)
            if is_settled:
                self._promise(node.offer, pods, is_bought_for=False)
        else:
            # A node without pods in the plan belongs to a pool's minimum. A node whose pods have
            # all found another place is bought for nobody.
            is_wanted = pods or coming or not node.pods
            is_settled = self._bought(node, pods, coming=coming) if is_wanted else True
        if not is_settled:
            self.overtaken += (pod.metadata.uid for pod in pods)

    def _is_there(self, machine: str) -> bool:
        known = self._world.cluster.nodes.get(machine)
        request = self._requests.get(machine)
        return (known is not None and serves_now(known, self._world)) or (
            request is not None and request.status.phase in COMING
        )

    def _promise(self, machine: str, pods: Iterable[Pod], *, is_bought_for: bool) -> None:
        known = self._world.cluster.nodes.get(machine)
        is_serving = known is not None and serves_now(known, self._world)
        since = self._now.monotonic if is_serving else NEVER
        for pod in pods:
            self.places[pod.metadata.uid] = Nomination(
                machine=machine, shape=pod.shape, is_bought_for=is_bought_for, since=since
            )

    def _bought(self, node: PlannedNode, pods: Sequence[Pod], *, coming: Sequence[Pod]) -> bool:
        is_whole = len(pods) + len(coming) == sum(node.pods.values())
        item = self._items.get(node.offer) if is_whole else self._smallest(node, [*pods, *coming])
        if item is None or not self._is_within_limits(item):
            return False
        self._count(item)
        annotations = {
            PLAN_ANNOTATION: why(node, item),
            TEMPLATE_ANNOTATION: blueprint_of(item.pool, item.offering, self._world).text,
        }
        request = _request(item, pods, coming=coming, annotations=annotations, new_id=self._new_id)
        self.requests[request.name] = request
        self._promise(request.name, pods, is_bought_for=True)
        return True

    def _smallest(self, node: PlannedNode, pods: Sequence[Pod]) -> Purchasable | None:
        """The cheapest offer that holds the remaining pods of a node.

        It stays in the planned domains if a rule about domains applies to one of the pods.
        """
        planned = self._items.get(node.offer)
        keys = self._keys_of(node)
        total: defaultdict[str, int] = defaultdict(int)
        for pod in pods:
            for name, amount in pod.requests.amounts.items():
                total[name] += amount
        fitting = (
            item
            for item in self._items.values()
            if planned is not None
            and item.pool.name == planned.pool.name
            # Its price couldn't be compared with the planned one.
            and item.offering.currency == planned.offering.currency
            and item.price <= planned.price
            and all(item.node.labels.get(key) == planned.node.labels.get(key) for key in keys)
            and all(item.name in self._allowed[name] for name in node.pods)
            and all(amount <= item.room[name] for name, amount in total.items())
        )
        return min(
            fitting,
            key=lambda item: (item.price, item.offering.doubts, item.name),
            default=planned,
        )

    def _keys_of(self, node: PlannedNode) -> frozenset[str]:
        """The domains that rules about its pods are about; a new node is its own anyway."""
        here = node.pods.keys()
        return frozenset(
            each.key
            for each in self._question.problem.groups
            if each.members & here or (isinstance(each, Near) and each.anchors & here)
        ) - {HOSTNAME}

    def _is_within_limits(self, item: Purchasable) -> bool:
        most = self._most[item.name]
        return (most is None or most > 0) and all(
            amounts.get(item.name, 0) <= left for amounts, left in self._left.values()
        )

    def _count(self, item: Purchasable) -> None:
        most = self._most[item.name]
        self._most[item.name] = None if most is None else most - 1
        for name, (amounts, left) in self._left.items():
            self._left[name] = amounts, left - amounts.get(item.name, 0)


def _request(
    item: Purchasable,
    pods: Sequence[Pod],
    *,
    coming: Sequence[Pod],
    annotations: Mapping[str, str],
    new_id: Callable[[], UUID],
) -> NodeRequest:
    pool, offering = item.pool, item.offering
    references = sorted(
        (PodReference(namespace=m.namespace, name=m.name, uid=m.uid) for m in _metadata(pods)),
        key=lambda one: (one.namespace, one.name),
    )
    return NodeRequest(
        metadata=ObjectMeta(
            name=request_name(pool.name, new_id),
            annotations=annotations,
            owner_references=(owned_by(pool),),
            finalizers=(PROVIDER_CLEANUP_FINALIZER,),
        ),
        spec=NodeRequestSpec(
            pool=pool.name,
            target_offering=offering.name,
            server_type=offering.server_type,
            location=offering.location,
            # Two offers of one type and location may differ in labels alone, such as spot and on
            # demand.
            labels=dict(offering.own_labels),
            price=offering.price,
            currency=offering.currency,
            resources=_exactly(offering.allocatable),
            pods=tuple(references[:WRITTEN_PODS]),
            workloads=tuple(_workloads(pods, coming))[:WRITTEN_WORKLOADS],
        ),
    )


def _workloads(pods: Iterable[Pod], coming: Iterable[Pod]) -> Iterator[PlannedWorkload]:
    """The pods for the machine by workload; a pod without an owner is identified by its uid."""
    by_owner: defaultdict[Owner, list[Pod]] = defaultdict(list)
    for pod in (*(pod for pod in pods if owner_of(pod) is not None), *coming):
        by_owner[workload_of(pod)].append(pod)
    for owner, alike in sorted(by_owner.items()):
        yield PlannedWorkload(
            kind=owner.kind,
            namespace=owner.namespace,
            name=owner.name,
            pods=len(alike),
            requests=_exactly(alike[0].requests),
        )


def _exactly(resources: Resources) -> dict[str, str]:
    """Resources as written in objects, without rounding."""
    return {
        name: shown_amount(name, amount) if name == CPU else str(amount)
        for name, amount in resources.amounts.items()
    }


def _metadata(pods: Iterable[Pod]) -> Iterable[Metadata]:
    return (pod.metadata for pod in pods)
