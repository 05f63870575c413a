"""The state of growth, from the objects in the cluster; pure, so that it can be tested.

People and programs get the same content. What needs attention comes last, where people look after
they run a command.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.conditions import Truth
from growth.api.nodepool import OBSERVING
from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import COMING, RequestPhase
from growth.api.wellknown import (
    POOL_LABEL,
    REPLACES_ANNOTATION,
    SEVERAL_CURRENCIES,
    TYPES_MISSING,
)
from growth.cli.cluster.survey import is_observing
from growth.cli.cluster.trouble import Trouble
from growth.cli.explain.scaling import scaling_words
from growth.cli.terminal.money import added, the_currency, whole
from growth.cli.terminal.texts import counted
from growth.demand.detection import is_demand
from growth.foreign_text import time_or_none
from growth.keeping.serving import serves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.cli.status.watched import WatchedCluster
    from growth.keeping.wanting import Keeping
    from growth.scheduling.pod import Pod

PAUSED: Final = "Paused"
REMOVAL_HELD: Final = "RemovalHeld"
MANY_SICK: Final = "ManySick"
LIMIT_REACHED: Final = "LimitReached"


class PoolLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures of a pool."""

    name: str
    nodes: int
    ready: int
    coming: int
    going: int
    hourly_cost: str
    """In the pool's currency."""
    state: str
    """ok, or what is wrong with it."""
    costs: Mapping[str, Decimal] = {}
    """The cost per hour, by currency."""


class OnItsWay(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A machine that is coming or going."""

    name: str
    pool: str
    what: str
    """Type and location of a new machine; the reason of a removal."""
    phase: str
    seconds: int
    """Seconds since the phase began."""
    pods: int = 0
    """The number of pods that it was bought for."""
    replaces: bool = False
    """Whether it replaces another node."""


class WithoutPlace(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pod without a place in the last plan."""

    pod: str
    pool: str
    reason: str
    tries: int
    next_try: str | None


class SoldOut(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An offer that the provider couldn't deliver."""

    pool: str
    offer: str
    until: str
    failures: int
    seconds: int
    """Seconds until it is tried again."""


class KeptNodes(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Nodes that are kept for one reason."""

    reason: str
    nodes: int
    seconds: int | None
    """Seconds until the first of them can change by itself, if known."""
    until: datetime | None = None
    """The time of that."""


class Overview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The state of growth."""

    pools: tuple[PoolLine, ...]
    hourly_cost: str | None
    """None if there are several currencies."""
    pending: int
    """The number of pods that are waiting for a new node."""
    longest_wait: int
    """How long the oldest of them has been waiting, in seconds."""
    coming: tuple[OnItsWay, ...]
    going: tuple[OnItsWay, ...]
    without_place: tuple[WithoutPlace, ...]
    sold_out: tuple[SoldOut, ...]
    needs_a_person: tuple[str, ...]
    """What needs attention, one line each, with the fix."""
    kept: tuple[KeptNodes, ...] = ()
    """Nodes by the reason why they are kept, the most frequent reason first."""
    currency: str = ""
    """The currency of all costs, if it is known and the only one."""
    costs: Mapping[str, Decimal] = {}
    """The cost per hour, by currency."""
    growth: Trouble | None = None
    """What is wrong with growth itself."""
    observes: bool = False
    """Whether growth only observes, in every pool."""

    @property
    def is_well(self) -> bool:
        """Whether nothing needs attention."""
        growth_is_well = self.growth is None or not self.growth.needs_a_person
        return growth_is_well and not self.needs_a_person


def overview(
    seen: WatchedCluster,
    now: datetime,
    kept: Mapping[str, Keeping] | None = None,
) -> Overview:
    """Everything that needs attention."""
    pending = [pod for pod in seen.pending if is_demand(pod)]
    costs = added(each for pool in seen.pools for each in pool_costs(pool, seen))
    paid = whole(costs)
    return Overview(
        pools=tuple(_pool(pool, seen, now) for pool in _by_name(seen)),
        hourly_cost=None if paid is None else str(paid),
        pending=len(pending),
        longest_wait=max((_waited(pod, now) for pod in pending), default=0),
        coming=tuple(_coming(seen, now)),
        going=tuple(_going(seen, now)),
        without_place=tuple(_without_place(seen)),
        sold_out=tuple(_sold_out(seen, now)),
        needs_a_person=tuple(_for_a_person(seen, now)),
        kept=_kept((kept or {}).values(), now),
        currency=the_currency(costs, seen.currency),
        costs=costs,
        growth=seen.trouble,
        observes=bool(seen.pools) and all(map(is_observing, seen.pools)),
    )


def _kept(keepings: Iterable[Keeping], now: datetime) -> tuple[KeptNodes, ...]:
    found: defaultdict[str, list[Keeping]] = defaultdict(list)
    for each in keepings:
        found[each.reason.value].append(each)
    ordered = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(_for_one_reason(reason, several, now) for reason, several in ordered)


def _for_one_reason(reason: str, several: list[Keeping], now: datetime) -> KeptNodes:
    first = min((each.until for each in several if each.until), default=None)
    return KeptNodes(
        reason=reason,
        nodes=len(several),
        seconds=None if first is None else max(0, int((first - now).total_seconds())),
        until=first,
    )


def _by_name(seen: WatchedCluster) -> list[NodePool]:
    return sorted(seen.pools, key=lambda pool: pool.name)


def _pool(pool: NodePool, seen: WatchedCluster, now: datetime) -> PoolLine:
    nodes = [node for node in seen.nodes if node.labels.get(POOL_LABEL) == pool.name]
    requests = [each for each in seen.requests if each.spec.pool == pool.name]
    return PoolLine(
        name=pool.name,
        nodes=len(nodes),
        ready=sum(serves(node, pool) for node in nodes),
        coming=sum(each.status.phase in COMING for each in requests),
        going=sum(each.spec.pool == pool.name for each in seen.removals),
        hourly_cost=str(pool.status.hourly_cost),
        state=_state(pool, now),
        costs=added(pool_costs(pool, seen)),
    )


def pool_costs(pool: NodePool, seen: WatchedCluster) -> Iterator[tuple[str, Decimal]]:
    """The cost of its machines per hour, by currency."""
    yield pool.status.currency or seen.currency, pool.status.hourly_cost
    for other in pool.status.other_costs:
        yield other.currency, other.hourly_cost


def _state(pool: NodePool, now: datetime) -> str:
    if pool.metadata.deletion_timestamp is not None:
        return "being deleted"
    if pool.status.blocked is not None:
        return f"blocked: {pool.status.blocked.reason}"
    if told := _gravest_brake(pool):
        return told
    refused = sum(offer.holds(now) for offer in pool.status.unmet_offers)
    sold_out = [f"{counted(refused, 'offer')} sold out"] if refused else []
    return ", ".join(("ok", *sold_out, *scaling_words(pool, now)))


def _gravest_brake(pool: NodePool) -> str:
    """The most serious condition that restricts the pool, if there is one."""
    true = {each.type: each.reason for each in pool.status.conditions if each.status is Truth.TRUE}
    words = {
        OBSERVING: "only observes",
        PAUSED: "paused",
        REMOVAL_HELD: f"removes nothing: {true.get(REMOVAL_HELD)}",
        MANY_SICK: f"repairs nothing: {true.get(MANY_SICK)}",
        LIMIT_REACHED: f"limit reached: {_limit(true.get(LIMIT_REACHED, ''), pool)}",
        TYPES_MISSING: "some of its types aren't sold",
        SEVERAL_CURRENCIES: "prices in several currencies",
    }
    return next((text for condition, text in words.items() if condition in true), "")


def _limit(reason: str, pool: NodePool) -> str:
    """A limit by its name in the pool, with its figures if they are known."""
    limits, status = pool.spec.limits, pool.status
    written = {
        "Nodes": f"limits.nodes {status.wanted}/{limits.nodes}",
        "HourlyCost": f"limits.hourlyCost {status.hourly_cost}/{limits.hourly_cost}",
        "Cpu": f"limits.cpu {limits.cpu}",
        "Memory": f"limits.memory {limits.memory}",
        "NodesPerHour": f"limits.nodesPerHour {limits.nodes_per_hour}",
        "TypeMaximum": "the max of a type",
    }
    return written.get(reason, reason)


def _coming(seen: WatchedCluster, now: datetime) -> Iterator[OnItsWay]:
    for each in sorted(seen.requests, key=lambda request: request.name):
        if each.status.phase in {*COMING, RequestPhase.DEPROVISIONING}:
            yield OnItsWay(
                name=each.name,
                pool=each.spec.pool,
                what=f"{each.spec.server_type} {each.spec.location}",
                phase=each.status.phase,
                seconds=_in_phase(each, now),
                pods=len(each.spec.pods),
                replaces=REPLACES_ANNOTATION in each.metadata.annotations,
            )


def _going(seen: WatchedCluster, now: datetime) -> Iterator[OnItsWay]:
    for each in sorted(seen.removals, key=lambda removal: removal.name):
        yield OnItsWay(
            name=each.name,
            pool=each.spec.pool,
            what=each.spec.reason,
            phase=each.status.phase,
            seconds=_in_phase(each, now),
        )


def _without_place(seen: WatchedCluster) -> Iterator[WithoutPlace]:
    for pool in _by_name(seen):
        for each in pool.status.unplaced:
            yield WithoutPlace(
                pod=f"{each.pod.namespace}/{each.pod.name}",
                pool=pool.name,
                reason=each.reason,
                tries=each.tries,
                next_try=None if each.next_try is None else each.next_try.isoformat(),
            )


def _sold_out(seen: WatchedCluster, now: datetime) -> Iterator[SoldOut]:
    for pool in _by_name(seen):
        for each in pool.status.unmet_offers:
            if each.holds(now):
                yield SoldOut(
                    pool=pool.name,
                    offer=" in ".join(filter(None, (each.server_type, each.location)))
                    or "everything",
                    until=each.until.isoformat(),
                    failures=each.failures,
                    seconds=max(0, int((each.until - now).total_seconds())),
                )


def _for_a_person(seen: WatchedCluster, now: datetime) -> Iterator[str]:
    for pool in _by_name(seen):
        if pool.status.blocked is not None:
            yield f"pool {pool.name} buys nothing: {pool.status.blocked.message}"
    for removal in seen.removals:
        if removal.status.phase is RemovalPhase.REMOVAL_FAILED:
            yield (
                f"{removal.name} couldn't be removed and may still cost money: check it at the "
                f"provider, then try again with kubectl delete nodeRemovalRequest {removal.name}"
            )
    yield from _late(seen, now)
    for name in seen.unreadable:
        yield f"{name} can't be read: compare it (kubectl get) with its definition (growth crds)"


def _late(seen: WatchedCluster, now: datetime) -> Iterator[str]:
    """Machines that take longer than their pool allows, which growth should have noticed."""
    waits = {pool.name: pool.spec.readiness_wait.seconds for pool in seen.pools}
    for request in seen.requests:
        allowed = waits.get(request.spec.pool)
        if allowed is None or request.status.phase not in COMING:
            continue
        if _in_phase(request, now) > 2 * allowed:
            yield (
                f"{request.name} has been {request.status.phase} for twice its pool's "
                f"readinessWait: check with growth doctor whether the reconciler runs"
            )


def _in_phase(resource: NodeRequest | NodeRemovalRequest, now: datetime) -> int:
    since = resource.status.last_transition_time or resource.metadata.creation_timestamp
    return 0 if since is None else max(0, int((now - since).total_seconds()))


def _waited(pod: Pod, now: datetime) -> int:
    created = time_or_none(pod.metadata.creation_timestamp)
    return 0 if created is None else max(0, int((now - created).total_seconds()))
