"""Which of the machines bought for a workload still lacks pods of it, and what that leaves of them.

A plan counts on pods that aren't there yet, so it can't name them: a request says how many pods of
which workload its machine is for, and how large they are. Pods of one workload are as good as one
another, so each that comes, in whichever order, is sent where fewer of them are than were planned.
Whoever finds no seat of its own is to take nobody's: what a machine is still promised to is told,
too.

A pod counts where it is bound or nominated. One that was sent somewhere a moment ago counts there
at once: its event takes some milliseconds, in which the scheduler asks for the next of its kind. It
counts until the scheduler says that nothing came of it, as when the binding failed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from growth.api.noderequest import FAILED, NodeRequest
from growth.demand.detection import scheduled
from growth.kube.versions import is_before
from growth.scheduling.owners import Owner, owner_of
from growth.scheduling.resources import Resources, parse_resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from growth.kube.cache.contents import Change
    from growth.scheduling.pod import Pod


class Planned(NamedTuple):
    """Pods of one workload that are to be on a node."""

    pods: int
    size: Resources
    """Of each of them."""


class PodPlace(NamedTuple):
    """Where a pod is, or was sent to."""

    node: str
    workload: Owner


class Sent(NamedTuple):
    """A pod that the scheduler was told a node for, and that hasn't been seen there."""

    version: str
    """Of the pod, when the scheduler asked."""
    size: Resources


class Seats:
    """Follows the caches of requests and pods."""

    def __init__(self) -> None:
        self._planned: dict[str, dict[Owner, Planned]] = {}
        """By the name of the node."""
        self._nodes: defaultdict[Owner, set[str]] = defaultdict(set)
        """Those that were bought for a workload."""
        self._there: defaultdict[PodPlace, set[str]] = defaultdict(set)
        """The uids of a workload's pods on a node, with those that were sent there."""
        self._places: dict[str, PodPlace] = {}
        self._sent: defaultdict[str, dict[str, Sent]] = defaultdict(dict)
        """By node, and the uid of the pod."""
        self._claims: dict[str, Resources] = {}
        """What was found of a node at the last question, as long as nothing has changed there."""

    def follow_requests(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Take in what has changed."""
        for change in changes:
            if change.old is not None:
                self._forget(change.old)
            if change.new is not None and change.new.status.phase not in FAILED:
                self._remember(change.new)

    def follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        """Pods have come, moved or gone."""
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
        """The node on which most pods of the workload are missing; `rather` this one, if any are.

        Empty if there is none among the hosts.
        """
        nodes = None if workload is None else self._nodes.get(workload)
        if workload is None or not nodes:
            return ""
        missing = {
            node: self._planned[node][workload].pods
            - len(self._there.get(PodPlace(node, workload), frozenset()) - {uid})
            for node in nodes & frozenset(hosts)
        }
        free = [node for node, count in missing.items() if count > 0]
        return max(free, key=lambda node: (node == rather, missing[node], node), default="")

    def claims(self, hosts: Iterable[str]) -> Mapping[str, Resources]:
        """What was promised of each node that was bought for somebody, and isn't taken yet."""
        bought = [host for host in hosts if host in self._planned] if self._planned else []
        for node in bought:
            if node not in self._claims:
                self._claims[node] = Resources(dict(self._summed(node)))
        return {node: self._claims[node] for node in bought}

    def sent(self, uid: str, workload: Owner | None, node: str, sent: Sent) -> None:
        """The scheduler was told that this node is the best for a pod of this size."""
        if workload is not None and workload in self._nodes and node in self._planned:
            self._put(uid, PodPlace(node, workload))
            self._sent[node][uid] = sent

    def _has_come_to_nothing(self, before: Pod | None, pod: Pod) -> bool:
        """Whether a pod without a place isn't expected any more where it counted until now."""
        place = self._places.get(pod.metadata.uid)
        sent = None if place is None else self._sent.get(place.node, {}).get(pod.metadata.uid)
        if sent is None:
            return True
        # A version that brings other things, or that our watch brings late, says nothing of it.
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
