"""Ranks nodes for a pod, from data that is updated with each event.

So a call costs only two look-ups per node. Pods count where they are bound or nominated. A pod that
the scheduler has just placed is missing until its event arrives. That may change a score, but never
a limit: the scheduler itself knows which nodes are full.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from extender.opening import Opening
from extender.plans import Plans
from extender.scoring import scores
from extender.seats import Seats, Sent
from growth.api.wellknown import SCALE_DOWN_TAINT
from growth.clocks import wall_clock
from growth.instant import Instant
from growth.scheduling.owners import manager
from growth.scheduling.requests import ONE_POD
from growth.scheduling.resources import CPU, MEMORY, NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.kube.cache.contents import Change
    from growth.scheduling.metadata import Metadata
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.resources import Resources


def _now() -> Instant:
    return Instant(monotonic=time.monotonic(), wall=wall_clock())


class Steering:
    """Follows the caches of pods, nodes, requests and removals."""

    def __init__(self, *, now: Callable[[], Instant] = _now) -> None:
        self._now = now
        self.plans = Plans()
        self.seats = Seats()
        self.opening = Opening()
        self._waiting: dict[str, Resources] = {}
        """The requests of each pod without a node, by uid."""
        self._taken: dict[str, Resources] = {}
        self._allocatable: dict[str, Resources] = {}
        self._fullness: dict[str, float] = {}
        self._marked: set[str] = set()
        self._removals: set[str] = set()
        self._leaving: frozenset[str] = frozenset()

    def scores(self, pod: Metadata, hosts: Iterable[str]) -> dict[str, int]:
        """The score of each node for a pod."""
        now = self._now()
        self.seats.settle(now)
        hosts, workload = list(hosts), manager(pod)
        # The scheduler may ask before our watch has told of the pod.
        size = self._waiting.get(pod.uid, ONE_POD)
        named = self.plans.node_of(pod.uid)
        planned = self.seats.node_for(pod.uid, workload, hosts, rather=named) or named
        found = scores(
            hosts,
            planned=planned,
            fullness=self._fullness,
            leaving=self._leaving,
            # The planned node wins anyway, so it doesn't matter what the pod would take from others
            # elsewhere.
            lacking={} if planned in hosts else self._lacking(hosts, size),
        )
        best = max(found, key=lambda host: found[host], default="")
        self.seats.sent(pod.uid, workload, best, Sent(pod.resource_version, size), now=now)
        return found

    def _lacking(self, hosts: Iterable[str], size: Resources) -> dict[str, float]:
        """The share of each node that its planned pods would lack if the pod went there.

        Only nodes on which they would lack something are included.
        """
        found = {
            host: _overdrawn(
                self._allocatable[host], self._taken.get(host, NOTHING) + claimed + size
            )
            for host, claimed in self.seats.claims(hosts).items()
            if host in self._allocatable and claimed.amounts
        }
        return {host: share for host, share in found.items() if share > 0.0}

    def follow_requests(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Handle new, changed and deleted NodeRequests."""
        self.plans.follow(changes)
        self.seats.follow_requests(changes)
        self.opening.follow_requests(changes)

    def follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        """Handle new, changed and deleted pods."""
        self.seats.follow_pods(changes)
        touched = set()
        for change in changes:
            self._wait(change)
            if change.old is not None and _holds_room(change.old):
                place = change.old.place
                self._taken[place] = self._taken.get(place, NOTHING) - change.old.requests
                touched.add(place)
            if change.new is not None and _holds_room(change.new):
                place = change.new.place
                self._taken[place] = self._taken.get(place, NOTHING) + change.new.requests
                touched.add(place)
        self._measure(touched)

    def _wait(self, change: Change[Pod]) -> None:
        if change.new is not None and not change.new.place and not change.new.is_finished:
            self._waiting[change.new.metadata.uid] = change.new.requests
        elif change.old is not None:
            self._waiting.pop(change.old.metadata.uid, None)

    def follow_nodes(self, changes: Sequence[Change[Node]]) -> None:
        """Handle new, changed and deleted nodes."""
        self.opening.follow_nodes(changes)
        for change in changes:
            name = change.key.name
            self._marked.discard(name)
            if change.new is None:
                self._allocatable.pop(name, None)
            else:
                self._allocatable[name] = change.new.allocatable
                if _is_marked(change.new):
                    self._marked.add(name)
        self._measure(change.key.name for change in changes)
        self._leaving = frozenset(self._marked | self._removals)

    def follow_removals(self, changes: Sequence[Change[NodeRemovalRequest]]) -> None:
        """Handle new and deleted NodeRemovalRequests."""
        for change in changes:
            # A machine, its node and its removal have the same name.
            if change.new is None:
                self._removals.discard(change.key.name)
            else:
                self._removals.add(change.key.name)
        self._leaving = frozenset(self._marked | self._removals)

    def _measure(self, names: Iterable[str]) -> None:
        for name in names:
            taken = self._taken.get(name, NOTHING)
            # Otherwise, each node that there ever was would leave an entry.
            if not any(taken.amounts.values()):
                self._taken.pop(name, None)
            # Each kind has a watch of its own, so pods may be known before their node.
            allocatable = self._allocatable.get(name)
            if allocatable is None:
                self._fullness.pop(name, None)
            else:
                self._fullness[name] = _fullness(taken, allocatable)


def _holds_room(pod: Pod) -> bool:
    return bool(pod.place) and not pod.is_finished


def _is_marked(node: Node) -> bool:
    is_going = node.metadata.deletion_timestamp is not None
    return is_going or any(taint.key == SCALE_DOWN_TAINT for taint in node.spec.taints)


def _overdrawn(whole: Resources, asked: Resources) -> float:
    """How far the requests exceed the node, as a share of the scarcest resource."""
    shares = (
        amount / whole[name] - 1.0 for name, amount in asked.amounts.items() if whole[name] > 0
    )
    return max(shares, default=0.0)


def _fullness(taken: Resources, allocatable: Resources) -> float:
    """The used share of CPU or memory, whichever is scarcer."""
    shares = (taken[name] / allocatable[name] for name in (CPU, MEMORY) if allocatable[name] > 0)
    return max(shares, default=0.0)
