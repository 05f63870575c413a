"""Why a pod is pending, and which node is on its way for it, from the pod, pools and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.nodepool import NodePool
from growth.api.noderequest import COMING, NodeRequest, RequestPhase
from growth.api.written import write_time
from growth.cli.cluster.survey import paused
from growth.cli.explain.pool import blocked_or_paused
from growth.cli.explain.story import Explanation, Fact
from growth.cli.terminal.money import hourly
from growth.cli.terminal.texts import ago, ahead, counted, short_span, span_since
from growth.demand.detection import PodProgress, scheduled, standing
from growth.demand.one_plan import of_one_plan, second_of
from growth.demand.pools import UsablePools, match_pools, pools_of, why_unreadable, wish_of
from growth.foreign_text import time_or_none
from growth.keeping.marks import is_unregistered
from growth.scheduling.resources import shortages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from growth.api.nodepool_status import UnplacedPod
    from growth.cli.cluster.survey import Survey
    from growth.cli.explain.story import Figure
    from growth.scheduling.pod import Pod

UNSEEN_AFTER: Final = 30
"""Seconds without any plan for a pod after which growth probably isn't running."""
MOST_UNPLACED: Final = 50
"""Maximum number of pods without a place in the status of a pool."""


def explained_pod(pod: Pod, seen: Survey) -> Explanation:
    """The explanation of one pod."""
    return Explanation(
        kind="Pod",
        name=pod.name,
        headline=_headline(pod, seen),
        facts=tuple(_facts(pod, seen)),
        figures=_figures(pod, seen),
    )


def is_waiting(pod: Pod) -> bool:
    """Whether it is waiting for a node."""
    return standing(pod) in {PodProgress.UNREACHED, PodProgress.UNSCHEDULABLE}


def _headline(pod: Pod, seen: Survey) -> str:
    return f"{pod.name} {_without_a_wish(pod) or _held(pod, seen) or _waits(pod, seen.now.wall)}."


def _without_a_wish(pod: Pod) -> str:
    """Why the pod doesn't need a new node; empty if it does."""
    if pod.is_terminating:
        return "is being deleted, so it needs no node"
    if pod.is_finished:
        return f"has finished ({pod.status.phase}), so it needs no node"
    if pod.spec.node_name:
        return f"is on node {pod.spec.node_name}"
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        return f"is held by the scheduling gate {gates}, so it isn't scheduled yet"
    return ""


def _held(pod: Pod, seen: Survey) -> str:
    """The place that growth keeps for it while a node opens; empty if there is none."""
    place = pod.status.nominated_node_name
    if standing(pod) is not PodProgress.NOMINATED or not _is_for(pod, place, seen):
        return ""
    return f"gets its place on {place}, which was bought for it: the scheduler keeps the room free"


def _is_for(pod: Pod, machine: str, seen: Survey) -> bool:
    request = seen.scene.requests.get(machine)
    return request is not None and any(each.uid == pod.metadata.uid for each in request.spec.pods)


def _waits(pod: Pod, now: datetime) -> str:
    since = span_since(time_or_none(pod.metadata.creation_timestamp), now)
    match standing(pod):
        case PodProgress.UNREACHED:
            return f"has been pending for {since}: no scheduler has looked at it"
        case PodProgress.NOMINATED:
            place = pod.status.nominated_node_name
            return f"gets a place on {place}: the scheduler preempts other pods for it"
        case PodProgress.UNSCHEDULABLE:
            return f"has been waiting for a node for {since}"
        case PodProgress.APART:
            return "has no node, but isn't waiting for a new one"


def _facts(pod: Pod, seen: Survey) -> Iterator[Fact]:
    verdict = scheduled(pod)
    if not pod.spec.node_name and verdict is not None and verdict.status != "True":
        at = ago(time_or_none(verdict.last_transition_time), seen.now.wall)
        yield Fact("scheduler", f"{verdict.reason} {at}: {verdict.message or 'no message'}")
    if pod.spec.node_name:
        yield from _on_its_node(pod, seen)
    elif is_waiting(pod):
        yield from _of_pools(pod, seen)
        yield from _of_plans(pod, seen)
        yield from _of_requests(pod, seen)


def _on_its_node(pod: Pod, seen: Survey) -> Iterator[Fact]:
    name = pod.spec.node_name
    if name not in seen.scene.cluster.nodes:
        yield Fact("node", f"node {name} is gone; the pod will be deleted")
    elif name in seen.kept:
        yield Fact("node", f"bought by growth: growth explain node {name}")
    else:
        yield Fact("node", "not bought by growth")


def _of_pools(pod: Pod, seen: Survey) -> Iterator[Fact]:
    wish = wish_of(pod)
    verdict = match_pools(wish, seen.pools)
    if not isinstance(verdict, UsablePools):
        kind = f"{NodePool.kind_names[0]} "
        broken = [name.removeprefix(kind) for name in seen.unreadable if name.startswith(kind)]
        yield Fact("pool", why_unreadable(wish, broken) or verdict.text)
        return
    names = ", ".join(sorted(verdict.names))
    yield Fact("pool", names if wish.names_a_pool else f"{names} (default: the pod names no pool)")
    for name in sorted(verdict.names):
        for fact in blocked_or_paused(seen.pools[name], seen.now.wall):
            yield Fact(fact.topic, f"pool {name}: {fact.text}")


def _of_plans(pod: Pod, seen: Survey) -> Iterator[Fact]:
    """The results of the last plans, by pool; equal ones are shown once."""
    told: dict[str, UnplacedPod] = {}
    for pool, entry in _unplaced(pod, seen.pools):
        if all(entry.reason != other.reason for other in told.values()):
            told[pool] = entry
    for pool, entry in told.items():
        yield Fact("last plan", f"doesn't fit in pool {pool}: {entry.reason}")
    if told:
        yield Fact("next try", _next_try(next(iter(told.values())), seen.now.wall))
    yield from _in_vain(pod, seen)
    usable = [seen.pools[name] for name in sorted(pools_of(pod, seen.pools))]
    if usable and not told and not _awaited(pod, seen):
        yield from _unplanned(pod, usable, seen)


def _next_try(entry: UnplacedPod, now: datetime) -> str:
    tries = f"{counted(entry.tries, 'plan')} in a row found no place for it"
    sooner = "sooner if the pod, its pool or the offers change"
    if entry.next_try is None:
        return f"when the pod, its pool or the offers change ({tries})"
    return f"{ahead(entry.next_try, now)} ({tries}); {sooner}"


def _in_vain(pod: Pod, seen: Survey) -> Iterator[Fact]:
    for name, pool in sorted(seen.pools.items()):
        for entry in pool.status.unserved:
            if entry.shape == pod.shape and entry.until > seen.now.wall:
                until = ahead(entry.until, seen.now.wall)
                yield Fact(
                    "in vain",
                    f"{entry.offering} of pool {name} was bought for a pod like this one, which "
                    f"didn't run there: it isn't bought again for such pods until then ({until})",
                )


def _unplanned(pod: Pod, usable: Sequence[NodePool], seen: Survey) -> Iterator[Fact]:
    """No plan has mentioned the pod: it is too new, the list is full, or growth doesn't run."""
    since = time_or_none(pod.metadata.creation_timestamp)
    seconds = 0.0 if since is None else (seen.now.wall - since).total_seconds()
    full = [pool.name for pool in usable if len(pool.status.unplaced) >= MOST_UNPLACED]
    if seen.trouble is not None and seen.trouble.stands_still:
        text = f"none: {seen.trouble.text}"
    elif full:
        text = f"pool {full[0]} lists only its {MOST_UNPLACED} most urgent pods: see the events"
    elif seconds < UNSEEN_AFTER:
        text = "none yet: pods that arrive together are planned together, within a second"
    elif all(paused(pool) for pool in usable):
        text = "none while pools are paused: end that with growth resume"
    else:
        text = f"none in {short_span(int(seconds))}: check with growth doctor whether growth runs"
    yield Fact("last plan", text)


def _of_requests(pod: Pod, seen: Survey) -> Iterator[Fact]:
    for request in _requests_for(pod, seen):
        others = len(request.spec.pods) - 1
        spec = request.spec
        machine = f"{spec.server_type} in {spec.location}, {hourly(spec.price)} per hour"
        pods = f"for it and {counted(others, 'other pod')}"
        yield Fact("request", f"{request.name} ({machine}) {pods}: {_for_this(pod, request, seen)}")


def _requests_for(pod: Pod, seen: Survey) -> list[NodeRequest]:
    """Its requests, the newest first, because older ones have failed."""
    found = [
        request
        for request in seen.scene.requests.values()
        if any(each.uid == pod.metadata.uid for each in request.spec.pods)
    ]
    return sorted(found, key=lambda each: (_made(each), each.name), reverse=True)


def _awaited(pod: Pod, seen: Survey) -> list[NodeRequest]:
    """Its requests that may still give it a place."""
    return [
        each
        for each in _requests_for(pod, seen)
        if each.status.phase in COMING
        or (_has_joined(each, seen) and not _too_little(pod, each.name, seen))
    ]


def _for_this(pod: Pod, request: NodeRequest, seen: Survey) -> str:
    """The progress of a purchase for one of its pods."""
    if request.status.phase is not RequestPhase.READY:
        return how_far(request, seen)
    if request.name not in seen.scene.cluster.nodes:
        return "its node is gone; the pod is planned again"
    if lacks := _too_little(pod, request.name, seen):
        return f"other pods took its place ({lacks})"
    # For how long that is waited for is a setting of the reconciler, which isn't known here.
    return f"{how_far(request, seen)}, but the pod isn't bound to it yet"


def _too_little(pod: Pod, name: str, seen: Survey) -> str:
    """The resource request of the pod that no longer fits on a node; empty if all fit."""
    node, held = seen.scene.cluster.nodes[name], seen.scene.cluster.occupancy(name)
    lacking = shortages(pod.requests, have=node.allocatable, taken=held.requested)
    return lacking[0].text if lacking else ""


def _has_joined(request: NodeRequest, seen: Survey) -> bool:
    """Whether its node exists and is ready."""
    is_ready = request.status.phase is RequestPhase.READY
    return is_ready and request.name in seen.scene.cluster.nodes


def _made(request: NodeRequest) -> str:
    made = request.metadata.creation_timestamp
    return "" if made is None else write_time(made)


def how_far(request: NodeRequest, seen: Survey) -> str:
    """The progress of a purchase, and when growth gives up on it."""
    status, now = request.status, seen.now.wall
    pool = seen.pools.get(request.spec.pool)
    since = span_since(status.last_transition_time or request.metadata.creation_timestamp, now)
    match status.phase:
        case RequestPhase.PENDING:
            return f"about to be requested from the provider, for {since}"
        case RequestPhase.PROVISIONING:
            until = _given_up(status.accepted_at, pool, now)
            return f"accepted by the provider {since} ago, {_joined(request, seen)}{until}"
        case RequestPhase.READY if request.name not in seen.scene.cluster.nodes:
            return f"its node became ready {since} ago and is gone{_forgotten(request, pool, now)}"
        case RequestPhase.READY:
            return f"the node has been ready for {since}"
        case RequestPhase.UNMET:
            return f"sold out at the provider {since} ago; its pods are planned without that offer"
        case RequestPhase.DEPROVISIONING:
            return f"its node never became ready; being removed for {since}"


def _forgotten(request: NodeRequest, pool: NodePool | None, now: datetime) -> str:
    """When a completed request is deleted, because `kubectl get` shows it until then."""
    since = request.status.last_transition_time
    if since is None or pool is None:
        return ""
    left = ahead(since + pool.spec.request_ttl.ready.timedelta, now)
    return f"; this request is deleted {left}"


def _joined(request: NodeRequest, seen: Survey) -> str:
    node = seen.scene.cluster.nodes.get(request.name)
    if node is None:
        return "the node hasn't joined yet"
    if not node.is_ready:
        return "the node has joined and isn't Ready yet"
    if not is_unregistered(node):
        return "the node is Ready"
    return f"the node is Ready but not open yet{_booting(request, seen)}"


def _booting(request: NodeRequest, seen: Survey) -> str:
    """The machines of its plan that aren't Ready, because they open together."""
    seconds, nodes = of_one_plan(second_of(request)), seen.scene.cluster.nodes
    others = (
        each
        for each in seen.scene.requests.values()
        if each.status.phase in COMING and second_of(each) in seconds
    )
    count = sum(each.name not in nodes or not nodes[each.name].is_ready for each in others)
    return f" (still booting: {counted(count, 'machine')} of its plan)" if count else ""


def _given_up(accepted_at: datetime | None, pool: NodePool | None, now: datetime) -> str:
    if accepted_at is None or pool is None:
        return ""
    return f"; gives up {ahead(accepted_at + pool.spec.readiness_wait.timedelta, now)}"


def _unplaced(pod: Pod, pools: Mapping[str, NodePool]) -> Iterator[tuple[str, UnplacedPod]]:
    for name, pool in sorted(pools.items()):
        for entry in pool.status.unplaced:
            if entry.pod.uid == pod.metadata.uid:
                yield name, entry


def _figures(pod: Pod, seen: Survey) -> dict[str, Figure]:
    found = next((entry for _, entry in _unplaced(pod, seen.pools)), None)
    coming = _awaited(pod, seen)
    at = None if found is None else found.next_try
    return {
        "state": standing(pod).name.lower() if not pod.spec.node_name else "bound",
        "node": pod.spec.node_name or None,
        "tries": None if found is None else found.tries,
        "reason": None if found is None else found.reason,
        "nextTry": None if at is None else write_time(at),
        "request": coming[0].name if coming and is_waiting(pod) else None,
        "requestPhase": coming[0].status.phase.value if coming and is_waiting(pod) else None,
    }
