"""Seats: which machines that were bought for a workload still wait for pods of it.

A plan includes pods that don't exist yet, so it can't name them. Instead, a request has the number
of pods of each workload that its machine is for, and their size. The pods of a workload are
interchangeable. So each one that comes is sent to a machine with fewer of them than planned. A pod
without a seat must not take one of others, so the resources that are still promised are known too.

A pod counts where it is bound or nominated. A pod that was just sent to a node counts there at
once: its event takes some milliseconds, and the scheduler may already ask about the next pod. It
counts until the scheduler reports that it isn't there, for example because the binding failed, and
without any further news for 15 seconds: anyone who reaches the port can ask about pods that don't
exist.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from growth.api.noderequest import FAILED, NodeRequest
from growth.demand.detection import scheduled
from growth.demand.evidence import FEASIBLE_SECONDS, MOST_HOLDS
from growth.demand.holds import Holds
from growth.kube.versions import is_before
from growth.scheduling.owners import Owner, owner_of
from growth.scheduling.resources import Resources, parse_resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from growth.instant import Instant
    from growth.kube.cache.contents import Change
    from growth.scheduling.pod import Pod


class Planned(NamedTuple):
    """The pods of one workload that are planned on a node."""

    pods: int
    size: Resources
    """The requests of each pod."""


class PodPlace(NamedTuple):
    """The node where a pod is, or to which it was sent."""

    node: str
    workload: Owner


class Sent(NamedTuple):
    """A pod that was sent to a node and hasn't been seen there yet."""

    version: str
    """The version of the pod in the scheduler's call."""
    size: Resources


class Seats:
    """Follows the caches of requests and pods."""

    def __init__(self, *, most: int = MOST_HOLDS) -> None:
        """At most so many pods count at once where they were only sent."""
        self._planned: dict[str, dict[Owner, Planned]] = {}
        """The planned pods of each node, by node name."""
        self._nodes: defaultdict[Owner, set[str]] = defaultdict(set)
        """The nodes that were bought for each workload."""
        self._there: defaultdict[PodPlace, set[str]] = defaultdict(set)
        """The uids of a workload's pods on a node, including those that were sent there."""
        self._places: dict[str, PodPlace] = {}
        self._sent: defaultdict[str, dict[str, Sent]] = defaultdict(dict)
        """The pods that were sent to each node, by node and uid."""
        self._expected = Holds(seconds=FEASIBLE_SECONDS, most=most)
        """The same pods, until they no longer count."""
        self._claims: dict[str, Resources] = {}
        """The promised resources of each node; an entry is dropped when something changes there."""

    def follow_requests(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Handle new, changed and deleted NodeRequests."""
        for change in changes:
            if change.old is not None:
                self._forget(change.old)
            if change.new is not None and change.new.status.phase not in FAILED:
                self._remember(change.new)

    def follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        """Handle new, changed and deleted pods."""
        for change in changes:
            pod = change.new or change.old
            owner = None if pod is None else owner_of(pod)
            if pod is None or owner is None:
                continue
            if change.new is None or pod.is_finished:
                self._take(pod.metadata.uid)
            elif pod.place:
                self._put(pod.metadata.uid, PodPlace(pod.place, owner))
            elif self._has_come_to_nothing(change.old, pod):
                self._take(pod.metadata.uid)

    def node_for(
        self, uid: str, workload: Owner | None, hosts: Iterable[str], *, rather: str
    ) -> str:
        """The host on which most pods of the workload are missing, but `rather` if any are there.

        "" if pods are missing on none of the hosts.
        """
        nodes = None if workload is None else self._nodes.get(workload)
        if workload is None or not nodes:
            return ""
        missing = {
            node: self._planned[node][workload].pods
            # Without the pod itself: the scheduler asks again about a pod whose binding has failed.
            - len(self._there.get(PodPlace(node, workload), frozenset()) - {uid})
            for node in nodes & frozenset(hosts)
        }
        free = [node for node, count in missing.items() if count > 0]
        return max(free, key=lambda node: (node == rather, missing[node], node), default="")

    def claims(self, hosts: Iterable[str]) -> Mapping[str, Resources]:
        """The promised resources of each host that aren't used yet."""
        bought = [host for host in hosts if host in self._planned] if self._planned else []
        for node in bought:
            if node not in self._claims:
                self._claims[node] = Resources(dict(self._summed(node)))
        return {node: self._claims[node] for node in bought}

    def sent(
        self, uid: str, workload: Owner | None, node: str, sent: Sent, *, now: Instant
    ) -> None:
        """Note that the scheduler was told that this node is the best one for the pod."""
        is_bound = uid in self._places and self._expected.get(uid) is None
        # Anyone who reaches the port can name a bound pod in a call, which must not move it away.
        if workload is None or workload not in self._nodes or is_bound:
            return
        if node in self._planned:
            self._put(uid, PodPlace(node, workload))
            self._sent[node][uid] = sent
            for dropped in self._expected.begin(uid, version=sent.version, now=now):
                self._take(dropped)

    def settle(self, now: Instant) -> None:
        """Stop counting pods that were sent somewhere and never seen there."""
        for uid in self._expected.ended(now):
            self._take(uid)

    def _has_come_to_nothing(self, before: Pod | None, pod: Pod) -> bool:
        """Whether a pod without a node must no longer count where it was sent."""
        place = self._places.get(pod.metadata.uid)
        sent = None if place is None else self._sent.get(place.node, {}).get(pod.metadata.uid)
        if sent is None:
            return True
        # Only a changed condition in a later version counts, as in growth.demand.evidence.
        is_said_anew = before is None or scheduled(before) != scheduled(pod)
        return is_said_anew and is_before(sent.version, pod.metadata.resource_version)

    def _summed(self, node: str) -> Iterator[tuple[str, int]]:
        amounts: defaultdict[str, int] = defaultdict(int)
        for workload, planned in self._planned[node].items():
            missing = planned.pods - len(self._there.get(PodPlace(node, workload), ()))
            for name, amount in planned.size.amounts.items() if missing > 0 else ():
                amounts[name] += missing * amount
        for sent in self._sent.get(node, {}).values():
            for name, amount in sent.size.amounts.items():
                amounts[name] += amount
        yield from amounts.items()

    def _put(self, uid: str, place: PodPlace) -> None:
        self._take(uid)
        self._places[uid] = place
        self._there[place].add(uid)
        self._claims.pop(place.node, None)

    def _take(self, uid: str) -> None:
        self._expected.end(uid)
        place = self._places.pop(uid, None)
        if place is None:
            return
        self._there[place].discard(uid)
        if not self._there[place]:
            del self._there[place]
        sent = self._sent.get(place.node, {})
        if sent.pop(uid, None) is not None and not sent:
            del self._sent[place.node]
        self._claims.pop(place.node, None)

    def _remember(self, request: NodeRequest) -> None:
        node = request.node
        for owner, planned in _planned(request):
            self._planned.setdefault(node, {})[owner] = planned
            self._nodes[owner].add(node)
        self._claims.pop(node, None)

    def _forget(self, request: NodeRequest) -> None:
        node = request.node
        self._planned.pop(node, None)
        self._claims.pop(node, None)
        for owner, _ in _planned(request):
            nodes = self._nodes[owner]
            nodes.discard(node)
            if not nodes:
                del self._nodes[owner]


def _planned(request: NodeRequest) -> Iterator[tuple[Owner, Planned]]:
    for each in request.spec.workloads:
        owner = Owner(each.kind, each.namespace, each.name)
        yield owner, Planned(each.pods, parse_resources(each.requests))
