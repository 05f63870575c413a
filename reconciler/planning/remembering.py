"""The memory brought up to this moment, before anything is decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reconciler.buying.blocking import may_buy
from reconciler.buying.offers import shelf
from reconciler.buying.refusals import refusals
from reconciler.core.actions import machine
from reconciler.facts.fleet import listed_alone, may_have_machine, nodes_of_pools
from reconciler.facts.requested import all_requests, bought_lately, is_lost, still_of_the_hour
from reconciler.planning.awaited import Awaiting
from reconciler.planning.demand import without_place
from reconciler.planning.ledger import LimitCounts
from reconciler.planning.nominations import carried_on
from reconciler.planning.returning import taken_back
from reconciler.planning.seats import seated
from reconciler.planning.tries import LeftOutCause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.meta import CustomResource, PodReference
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger

REQUESTS: Final = "NodeRequest"


def promises_looked_after(world: World, now: Instant, demand: Mapping[str, Pod]) -> PlanningLedger:
    """Forgets what is over, and updates nominations, requests and tries."""
    before = world.ledger.planning
    unconfirmed = dict(_unconfirmed(world, demand, now))
    kept = replace(before, unconfirmed=unconfirmed)
    requests = all_requests(world.remembering(replace(world.ledger, planning=kept)))
    nominated = carried_on(before.nominated, world, requests, now)
    waiting = without_place(demand, nominated)
    nominated = nominated.with_places(seated(waiting, world, requests, nominated, now))
    waiting = without_place(demand, nominated)
    stock = shelf(world, before.shelf)
    back = taken_back(waiting, world, requests, nominated, stock.items, now)
    nominated = nominated.with_places(back)
    known, has_recovered = refusals(before.refusals, world, now)
    surroundings = _surroundings(world)
    counted = _counted(world, requests, now)
    # A limit that bound may leave room again: a machine has gone, or an hour.
    has_room = not before.counted <= counted
    returns = has_recovered or not _same(surroundings, before.surroundings)
    reopened = {shape for shape, _ in before.nominated.unserved.keys() - nominated.unserved.keys()}
    tries = {
        uid: each
        for uid, each in before.tries.items()
        if uid in demand
        and demand[uid].shape not in reopened
        and not (has_room and each.cause is LeftOutCause.LIMITED)
        and not returns
    }
    return replace(
        kept,
        nominated=nominated,
        refusals=known,
        # What follows from them is worked out anew where this is another object.
        tries=before.tries if len(tries) == len(before.tries) else tries,
        told={uid: text for uid, text in before.told.items() if uid in demand},
        bought=still_of_the_hour(before.bought, now),
        counted=counted,
        shelf=stock,
        surroundings=surroundings,
    )


def _counted(world: World, requests: Mapping[str, NodeRequest], now: Instant) -> LimitCounts:
    """What limits count; it matters while a pod has no place."""
    if not world.ledger.planning.tries:
        return LimitCounts()
    alive = (name for name, request in requests.items() if may_have_machine(request, world))
    return LimitCounts(
        machines=frozenset((*nodes_of_pools(world), *alive, *listed_alone(world, requests))),
        of_the_hour=frozenset(bought_lately(world, now)),
    )


def _surroundings(world: World) -> tuple[object, ...]:
    """Everything besides pods and nodes that plans depend on, first what is compared by value."""
    pools = (_version(each.name, each) for each in world.pools.values())
    classes = (_version(str(key), each) for key, each in world.node_classes.items())
    shut = sorted(name for name, pool in world.pools.items() if not may_buy(pool, world))
    known = (sorted(pools), sorted(classes), shut)
    return (known, *(world.offerings[key] for key in sorted(world.offerings)))


def _version(name: str, resource: CustomResource) -> tuple[str, str, int]:
    # Not the resource version: it changes with each status, and no pod would stay in back-off.
    return name, resource.metadata.uid, resource.metadata.generation


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Catalogues are compared as objects: they are replaced when they change."""
    return (
        len(one) == len(other)
        and one[:1] == other[:1]
        and all(a is b for a, b in zip(one[1:], other[1:], strict=True))
    )


def _unconfirmed(
    world: World, demand: Mapping[str, Pod], now: Instant
) -> Iterator[tuple[str, NodeRequest]]:
    """Decided and not seen yet.

    One that is free has failed, as far as we know: it may well be there, its answer lost and the
    cache behind. So it is created again under the same name, as long as anyone awaits it.
    """
    awaiting = Awaiting(world=world, now=now, waiting=demand)
    for name, request in world.ledger.planning.unconfirmed.items():
        if name in world.requests:
            continue
        if not world.is_free(machine(name)):
            yield name, request
            continue
        if awaiting.awaits(request) and not _is_lost(name, world, now):
            pods = tuple(pod for pod in request.spec.pods if pod.uid in demand)
            # Pods that have a place by now are removed: the effect would refuse the create each
            # time. But a request never loses all its names, as they decide how long its seats are
            # awaited.
            yield name, _bought_for(request, pods or request.spec.pods)


def _bought_for(request: NodeRequest, pods: tuple[PodReference, ...]) -> NodeRequest:
    if len(pods) == len(request.spec.pods):
        return request
    return request.model_copy(update={"spec": request.spec.model_copy(update={"pods": pods})})


def _is_lost(name: str, world: World, now: Instant) -> bool:
    """Whether a create has failed for so long that another plan is better than another try.

    Each try looks under its name before it makes anything, and a cache that sees would show it.
    """
    decided = world.ledger.planning.bought.get(name)
    health = world.sources.get(REQUESTS)
    is_seen = health is None or health.blind_since is None
    return decided is not None and is_seen and is_lost(decided, now)
