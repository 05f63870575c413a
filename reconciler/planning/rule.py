"""Demand becomes NodeRequests.

For now one machine for each pod: the cheapest that fits it alone. What counts already counts here:
no demand is bought for twice, whether its request is on its way to the API server, in the cache, at
the provider or a node that has just begun to serve; and no maximum is exceeded.
"""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from growth.api.meta import ObjectMeta, OwnerReference, PodReference
from growth.api.naming import request_name
from growth.api.noderequest import NodeRequest, NodeRequestSpec, RequestPhase
from growth.api.wellknown import (
    GROUP_VERSION,
    PROVIDER_CLEANUP_FINALIZER,
)
from growth.scheduling.resources import shown
from reconciler.actions import CreateNodeRequest, Sequence, machine
from reconciler.decision import NEVER, Decision
from reconciler.planning.choosing import cheapest, counts, refused
from reconciler.planning.ledger import PlanningLedger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.planning.choosing import Choice
    from reconciler.world import World

_ON_THEIR_WAY = {RequestPhase.PENDING, RequestPhase.PROVISIONING}


def decide(world: World, now: Instant) -> Decision:
    """The requests that the demand of now still lacks."""
    demand = sorted(_demand(world), key=lambda pod: (pod.name, pod.metadata.uid))
    unconfirmed = _unconfirmed(world, demand)
    known = (*world.requests.values(), *unconfirmed.values())
    served = nominated(world, known, now)
    taken = counts(world, known)
    gone = refused(world)
    chance = Random(world.seed)  # noqa: S311 - names have to be unlike each other, not secret
    bought: dict[str, NodeRequest] = {}
    # While more is bought, less can be had: what one finds nothing for, its like don't either.
    hopeless: set[Shape] = set()
    for pod in demand:
        if pod.metadata.uid in served or pod.shape in hopeless:
            continue
        choice = cheapest(pod, world, counts=taken, refused=gone)
        if choice is None:
            hopeless.add(pod.shape)
        else:
            request = _request(pod, choice, chance)
            bought[request.name] = request
            taken[choice.pool.name, choice.offering.server_type] += 1
    return Decision(
        section=PlanningLedger(unconfirmed={**unconfirmed, **bought}),
        sequences=tuple(
            _creation(request)
            for name, request in {**unconfirmed, **bought}.items()
            if world.is_free(machine(name))
        ),
        wake_at=min(_next_end(world, known, now), world.demand.next_end),
    )


def nominated(world: World, requests: Iterable[NodeRequest], now: Instant) -> frozenset[str]:
    """Uids of the pods that a machine on its way, or one that just serves, was bought for."""
    return frozenset(
        pod.uid
        for request in requests
        if request.status.phase in _ON_THEIR_WAY or _nomination_ends(request, world, now) > 0
        for pod in request.spec.pods
    )


def _nomination_ends(request: NodeRequest, world: World, now: Instant) -> float:
    """In how many seconds a node that serves is no longer kept for the pods it was bought for."""
    if request.status.phase is not RequestPhase.READY or request.status.ready_at is None:
        return 0.0
    return world.timing.bind_wait - now.seconds_since(request.status.ready_at)


def _next_end(world: World, requests: Iterable[NodeRequest], now: Instant) -> float:
    left = (_nomination_ends(request, world, now) for request in requests)
    return min((now.monotonic + seconds for seconds in left if seconds > 0), default=NEVER)


def _unconfirmed(world: World, demand: Iterable[Pod]) -> Mapping[str, NodeRequest]:
    """Decided and not seen yet.

    One that is free has failed, as far as we know: it may well be there, its answer lost and the
    cache behind. So it is created again under the same name, as long as somebody wants it.
    """
    wanted = {pod.metadata.uid for pod in demand}
    return {
        name: request
        for name, request in world.ledger.planning.unconfirmed.items()
        if name not in world.requests
        and (
            not world.is_free(machine(name)) or any(pod.uid in wanted for pod in request.spec.pods)
        )
    }


def _demand(world: World) -> Iterator[Pod]:
    return (pod for uid, pod in world.pending.items() if world.demand.is_demand(uid))


def _request(pod: Pod, choice: Choice, chance: Random) -> NodeRequest:
    pool, offering = choice.pool, choice.offering
    name = request_name(pool.name, lambda: UUID(int=chance.getrandbits(128), version=4))
    metadata = pod.metadata
    reference = PodReference(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid)
    return NodeRequest(
        metadata=ObjectMeta(
            name=name, owner_references=(_owned_by(pool),), finalizers=(PROVIDER_CLEANUP_FINALIZER,)
        ),
        spec=NodeRequestSpec(
            pool=pool.name,
            target_offering=offering.name,
            server_type=offering.server_type,
            location=offering.location,
            labels=dict(offering.own_labels),
            price=offering.price,
            resources={
                resource: shown(resource, amount) if resource == "cpu" else str(amount)
                for resource, amount in offering.allocatable.amounts.items()
            },
            pods=(reference,),
        ),
    )


def _owned_by(pool: NodePool) -> OwnerReference:
    return OwnerReference(
        api_version=GROUP_VERSION,
        kind="NodePool",
        name=pool.name,
        uid=pool.metadata.uid,
        controller=True,
        block_owner_deletion=False,
    )


def _creation(request: NodeRequest) -> Sequence:
    pods = ", ".join(f"{pod.namespace}/{pod.name}" for pod in chain(request.spec.pods))
    return Sequence(
        subject=machine(request.name),
        steps=(CreateNodeRequest(request=request),),
        why=f"{request.spec.target_offering} for {pods}",
    )
