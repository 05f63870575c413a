"""Seats: places that a plan has for any pods of a workload.

A plan also counts announced pods. They have no uid yet and can't be nominated, so the request
records how many pods of which workload its machine is for (`spec.workloads`). Nothing else is
remembered. Pods of one workload are interchangeable: a seat is free while fewer of them are on the
machine, or nominated to it, than the machine is for. A pending pod takes a free seat and isn't
planned again. For announced pods seats are kept, and their room isn't offered to other pods.

Seats are counted as long as a nomination lasts at most while the scheduler is at work (a busy
control plane makes pods for half a minute); from then on what is left of a machine is room like any
other. The extender steers by the same words for as long as the request is there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from growth.api.noderequest import COMING
from growth.scheduling.fits import verdict
from growth.scheduling.owners import Owner, workload_of
from growth.scheduling.resources import parse_resources
from growth.scheduling.verdicts import Fits
from reconciler.core.decision import NEVER
from reconciler.facts.seats import seats_of
from reconciler.facts.serving import serves_now
from reconciler.planning.nominations import PATIENCE, Nomination

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from growth.scheduling.resources import Resources
    from reconciler.core.world import World
    from reconciler.planning.demand import ComingPods
    from reconciler.planning.nominations import Nominated

Free = dict[Owner, list[str]]
"""The machines with free seats for a workload: one entry for each seat."""


class KeptSeats(NamedTuple):
    """The seats of announced pods."""

    held: Mapping[str, tuple[Pod, ...]]
    """Placeholders for the reserved room of each machine."""
    rest: tuple[ComingPods, ...]
    """Announced pods without a seat."""


def seated(
    waiting: Mapping[str, Pod],
    world: World,
    requests: Mapping[str, NodeRequest],
    nominated: Nominated,
    now: Instant,
) -> Mapping[str, Nomination]:
    """The places of pending pods that take a seat of their workload."""
    # Mostly there are none, and as many pods as there may wait for ever are not asked in vain.
    if not any(request.spec.workloads for request in requests.values()):
        return {}
    asking = {workload_of(pod) for pod in waiting.values()}
    seats = free(asking, world, requests, nominated, now)
    return dict(_Seating(world, requests, nominated, now).places(waiting, seats)) if seats else {}


def kept_seats(
    coming: Iterable[ComingPods],
    world: World,
    requests: Mapping[str, NodeRequest],
    nominated: Nominated,
    now: Instant,
) -> KeptSeats:
    """The seats of announced pods, and those that have none."""
    coming = tuple(coming)
    seats = free({each.workload for each in coming}, world, requests, nominated, now)
    held: defaultdict[str, list[Pod]] = defaultdict(list)
    rest: list[ComingPods] = []
    for each in coming:
        machines = seats.get(each.workload, [])
        taken = [machines.pop() for _ in range(min(each.number, len(machines)))]
        for machine in taken:
            held[machine].append(each.like)
        if len(taken) < each.number:
            rest.append(each._replace(number=each.number - len(taken)))
    return KeptSeats({machine: tuple(pods) for machine, pods in held.items()}, tuple(rest))


def free(
    asking: frozenset[Owner] | set[Owner],
    world: World,
    requests: Mapping[str, NodeRequest],
    nominated: Nominated,
    now: Instant,
) -> Free:
    """All free seats of these workloads."""
    if not asking:
        return {}
    meant = {
        name: planned
        for name, request in sorted(requests.items())
        if (planned := {o: count for o, count in seats_of(request).items() if o in asking})
        and _counts(request, world, now)
    }
    promised = _promised(world, nominated) if meant else Counter[tuple[str, Owner]]()
    found: Free = {}
    for name, planned in meant.items():
        there = world.cluster.occupancy(name).by_workload
        for owner, count in planned.items():
            left = count - there.get(owner, 0) - promised[name, owner]
            if left > 0:
                found.setdefault(owner, []).extend([name] * left)
    return found


def _counts(request: NodeRequest, world: World, now: Instant) -> bool:
    """Whether its seats are kept: while it is on its way, and for a while when it serves."""
    status = request.status
    node = world.cluster.nodes.get(request.name)
    if node is not None and node.spec.unschedulable:
        # On a cordoned node no further pod can run.
        return False
    if status.ready_at is None:
        return status.phase in COMING
    return now.left_of(PATIENCE * world.timing.bind_wait, since=status.ready_at) > 0


def _promised(world: World, nominated: Nominated) -> Counter[tuple[str, Owner]]:
    """How many of each workload are nominated to each machine and aren't there yet."""
    found = ((place.machine, world.pending.get(uid)) for uid, place in nominated.places.items())
    return Counter(
        (machine, workload_of(pod)) for machine, pod in found if pod is not None and not pod.place
    )


class _Seating:
    """One pod after the other, each as far as the others have left room."""

    def __init__(
        self,
        world: World,
        requests: Mapping[str, NodeRequest],
        nominated: Nominated,
        now: Instant,
    ) -> None:
        self._world = world
        self._requests = requests
        self._nominated = nominated
        self._now = now
        self._rooms: dict[str, Resources] = {}

    def places(self, waiting: Mapping[str, Pod], seats: Free) -> Iterator[tuple[str, Nomination]]:
        """A place for each that finds one."""
        for uid, pod in waiting.items():
            machines = seats.get(workload_of(pod), [])
            found = next((name for name in machines if self._suits(pod, name)), None)
            if found is not None:
                machines.remove(found)
                self._rooms[found] -= pod.requests
                yield uid, self._nomination(pod, found)

    def _suits(self, pod: Pod, machine: str) -> bool:
        """Whether it fits; of a machine that isn't there yet only the size is known for sure."""
        if (machine, pod.shape) in self._nominated.declined:
            return False
        if machine not in self._rooms:
            self._rooms[machine] = self._room(machine)
        if not self._rooms[machine].covers(pod.requests):
            return False
        node = self._world.cluster.nodes.get(machine)
        return (
            node is None
            or not serves_now(node, self._world)
            or isinstance(verdict(pod, node, self._world.cluster), Fits)
        )

    def _room(self, machine: str) -> Resources:
        """What is left of it when all nominated pods are bound."""
        node = self._world.cluster.nodes.get(machine)
        whole = (
            node.allocatable if node else parse_resources(self._requests[machine].spec.resources)
        )
        room = whole - self._world.cluster.occupancy(machine).requested
        for uid, place in self._nominated.places.items():
            pod = self._world.pending.get(uid)
            if place.machine == machine and pod is not None and not pod.place:
                room -= pod.requests
        return room

    def _nomination(self, pod: Pod, machine: str) -> Nomination:
        node = self._world.cluster.nodes.get(machine)
        is_serving = node is not None and serves_now(node, self._world)
        return Nomination(
            machine=machine,
            shape=pod.shape,
            is_bought_for=True,
            since=self._now.monotonic if is_serving else NEVER,
        )
