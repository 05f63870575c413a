"""The differences between two states of a cluster, as text.

Only states of objects are compared, so nothing is missed that lasts as long as the time between two
reads, and nothing is reported twice. Pods are reported by workload: ten thousand pods are one line.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

import msgspec

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import COMING, RequestPhase
from growth.api.written import write_time
from growth.cli.cluster.survey import paused
from growth.cli.terminal.money import hourly
from growth.cli.terminal.texts import counted
from growth.demand.detection import is_demand
from growth.keeping.marks import is_marked, pool_of_node, scale_down_at
from growth.scheduling.owners import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.cli.status.watched import WatchedCluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """An event, which is one line."""

    at: str
    kind: str
    """The kind of the object, such as Pod, NodeRequest or NodePool, or growth itself."""
    subject: str
    text: str


def happenings(before: WatchedCluster, after: WatchedCluster, now: datetime) -> Iterator[Happening]:
    """The events in causal order."""
    at = write_time(now.replace(microsecond=0))
    for kind, subject, text in (
        *_of_growth(before, after),
        *_of_pods(before, after),
        *_of_requests(before, after),
        *_of_nodes(before, after),
        *_of_removals(before, after),
        *_gone(before, after),
        *_of_pools(before, after),
    ):
        yield Happening(at=at, kind=kind, subject=subject, text=text)


Line = tuple[str, str, str]


def _of_growth(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    if after.trouble != before.trouble:
        trouble = after.trouble
        yield "Growth", "growth itself", trouble.text if trouble else "works again"


def _of_pods(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    waited, waits = _waiting(before), _waiting(after)
    for owner, count in _by_workload(pod for uid, pod in waits.items() if uid not in waited):
        yield "Pod", owner, f"{counted(count, 'pod')} without a node"
    for owner, count in _by_workload(pod for uid, pod in waited.items() if uid not in waits):
        yield "Pod", owner, f"{_waits_no_more(count)}"
    told = _without_place(before)
    for name, reason in _without_place(after).items():
        if told.get(name) != reason:
            yield "Pod", name, f"no place: {reason}"


def _waits_no_more(count: int) -> str:
    return "1 pod no longer waits" if count == 1 else f"{count} pods no longer wait"


def _waiting(seen: WatchedCluster) -> dict[str, Pod]:
    return {pod.metadata.uid: pod for pod in seen.pending if is_demand(pod)}


def _by_workload(pods: Iterable[Pod]) -> list[tuple[str, int]]:
    return sorted(Counter(str(workload_of(pod)) for pod in pods).items())


def _without_place(seen: WatchedCluster) -> dict[str, str]:
    return {
        f"{entry.pod.namespace}/{entry.pod.name}": entry.reason
        for pool in seen.pools
        for entry in pool.status.unplaced
    }


def _of_requests(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    known = {each.name: each for each in before.requests}
    for request in sorted(after.requests, key=lambda each: each.name):
        earlier = known.get(request.name)
        if earlier is None:
            spec = request.spec
            what = f"{spec.server_type} in {spec.location} at {hourly(spec.price)} per hour"
            pods = counted(len(spec.pods), "pod")
            yield "NodeRequest", request.name, f"requested: {what}, for {pods}"
        phase = request.status.phase
        if (earlier.status.phase if earlier else RequestPhase.PENDING) is not phase:
            yield "NodeRequest", request.name, _phase(request)


def _phase(request: NodeRequest) -> str:
    match request.status.phase:
        case RequestPhase.PENDING:
            return "is requested again"
        case RequestPhase.PROVISIONING:
            return "accepted by the provider"
        case RequestPhase.READY:
            return "ready"
        case RequestPhase.UNMET:
            return f"sold out at the provider{_last_reason(request)}"
        case RequestPhase.DEPROVISIONING:
            return "its node never became ready: removing it"
        case unreachable:
            assert_never(unreachable)


def _last_reason(each: NodeRequest | NodeRemovalRequest) -> str:
    events = each.status.events
    return f": {events[-1].reason}" if events and events[-1].reason else ""


def _of_nodes(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    known, there = _by_name(before.nodes), _by_name(after.nodes)
    for name, node in there.items():
        earlier = known.get(name)
        if earlier is None:
            yield "Node", name, f"has joined pool {pool_of_node(node)}"
        elif earlier.is_ready and not node.is_ready:
            yield "Node", name, "no longer ready"
        elif node.is_ready and not earlier.is_ready:
            yield "Node", name, "ready"
        if is_marked(node) and not (earlier and is_marked(earlier)):
            yield "Node", name, _marked(node)
        elif earlier and is_marked(earlier) and not is_marked(node):
            yield "Node", name, "stays: it is needed again"


def _gone(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    """The deleted nodes; these events follow the removals that cause them."""
    for name in sorted(set(_by_name(before.nodes)) - set(_by_name(after.nodes))):
        yield "Node", name, "is gone"


def _marked(node: Node) -> str:
    at = scale_down_at(node)
    return (
        f"is idle and will be removed{'' if at is None else f' at {write_time(at)}'} unless a "
        f"pod arrives"
    )


def _by_name(nodes: Iterable[Node]) -> Mapping[str, Node]:
    return {node.name: node for node in sorted(nodes, key=lambda node: node.name)}


def _of_removals(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    known = {each.name: each for each in before.removals}
    for removal in sorted(after.removals, key=lambda each: each.name):
        earlier = known.pop(removal.name, None)
        if earlier is None:
            yield "NodeRemovalRequest", removal.name, f"removing: {removal.spec.reason}"
        phase = removal.status.phase
        if (earlier.status.phase if earlier else RemovalPhase.PENDING) is not phase:
            yield "NodeRemovalRequest", removal.name, _removed(removal)
    for name in sorted(known):
        yield "NodeRemovalRequest", name, "has ended"


def _removed(removal: NodeRemovalRequest) -> str:
    match removal.status.phase:
        case RemovalPhase.PENDING:
            return "waits again"
        case RemovalPhase.DEPROVISIONING:
            return "the provider is deleting the machine"
        case RemovalPhase.REMOVAL_FAILED:
            return f"couldn't be removed{_last_reason(removal)}: check it at the provider"
        case unreachable:
            assert_never(unreachable)


def _of_pools(before: WatchedCluster, after: WatchedCluster) -> Iterator[Line]:
    known = {pool.name: pool for pool in before.pools}
    for pool in sorted(after.pools, key=lambda each: each.name):
        earlier = known.pop(pool.name, None)
        if earlier is None:
            yield "NodePool", pool.name, "is there"
        for text in _changed(earlier, pool):
            yield "NodePool", pool.name, text
    for name in sorted(known):
        yield "NodePool", name, "is gone"


def _hold(pool: NodePool) -> str:
    """What keeps growth from acting for the pool; empty if nothing does."""
    held = paused(pool)
    if held is None:
        return ""
    return "only observing" if held.is_of_mode else "paused"


def _changed(before: NodePool | None, after: NodePool) -> Iterator[str]:
    status = after.status
    blocked = before.status.blocked if before else None
    if status.blocked != blocked:
        yield f"buys nothing: {status.blocked.message}" if status.blocked else "may buy again"
    earlier, current = before and _hold(before), _hold(after)
    if (earlier or "") != current:
        yield f"is {current}" if current else f"is no longer {earlier}"
    if before and before.status.hourly_cost != status.hourly_cost:
        nodes = f"{status.ready} of {status.wanted} wanted nodes are ready"
        cost, was = hourly(status.hourly_cost), hourly(before.status.hourly_cost)
        yield f"costs {cost} per hour instead of {was}; {nodes}"


def is_settled(seen: WatchedCluster) -> bool:
    """Whether no pod is waiting that can be placed, and no machine is coming or going."""
    told = {entry.pod.uid for pool in seen.pools for entry in pool.status.unplaced}
    waits = any(uid not in told for uid in _waiting(seen))
    comes = any(each.status.phase in COMING for each in seen.requests)
    goes = any(each.status.phase is not RemovalPhase.REMOVAL_FAILED for each in seen.removals)
    return not waits and not comes and not goes and not any(map(is_marked, seen.nodes))
