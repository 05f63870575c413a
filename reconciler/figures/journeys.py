"""Follows each pod on its way to a node, from one World to the next.

The stages are: seen as demand, planned, its machine requested, created (accepted by the provider),
joined, bound. A pod with a place on an existing node has only the first two and the last. If its
machine fails, a pod starts again with its plan, and the lost time counts there.

Each pass looks only at pods that are new, newly planned or gone, and at machines on their way, and
never at all waiting pods.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, assert_never

from growth.api.noderequest import RequestPhase
from growth.foreign_text import time_or_none
from growth.scheduling.owners import workload_of
from reconciler.facts.requested import unconfirmed
from reconciler.facts.seats import seats_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World


class JourneyStage(StrEnum):
    """The stages of a pod."""

    SEEN = "seen"
    PLANNED = "planned"
    REQUESTED = "requested"
    CREATED = "created"
    JOINED = "joined"
    BOUND = "bound"


OF_MACHINES = (JourneyStage.REQUESTED, JourneyStage.CREATED, JourneyStage.JOINED)


class Passed(NamedTuple):
    """A pod has reached a stage, `seconds` after the previous one."""

    stage: JourneyStage
    seconds: float


class Seat(StrEnum):
    """Whether a machine was bought for a pod, and whether the pod was bound as planned."""

    NONE = "none"
    PLANNED = "planned"
    """It is on a machine that was bought for pods of its workload."""
    OTHER = "other"


class Arrived(NamedTuple):
    """A pod was bound, `seconds` after it was seen as demand."""

    seconds: float
    seat: Seat


@dataclass
class _Journey:
    namespace: str
    name: str
    seen_at: float
    at: float
    machine: str = ""


class Journeys:
    """All pods on their way to a node."""

    def __init__(self, pod_of: Callable[[str, str], Pod | None]) -> None:
        self._pod_of = pod_of
        self._journeys: dict[str, _Journey] = {}
        self._unplanned: set[str] = set()
        self._passengers: defaultdict[str, set[str]] = defaultdict(set)
        self._machines: dict[str, int] = {}
        """The number of stages that each machine has passed."""
        self._entries: Mapping[str, object] | None = None
        """The entries of the last World."""

    def follow(self, world: World, now: Instant) -> Iterator[Passed | Arrived]:
        """The stages that pods have reached since the last World."""
        yield from self._end(world, now.monotonic)
        yield from self._begin(world, now)
        yield from self._plan(world, now.monotonic)
        yield from self._travel(world, now.monotonic)

    def _begin(self, world: World, now: Instant) -> Iterator[Passed]:
        entries, is_first = world.demand.entries, self._entries is None
        if entries is self._entries:
            return
        self._entries = entries
        for uid in entries.keys() - self._journeys.keys():
            pod = world.pending.get(uid)
            if pod is None or not world.demand.is_demand(uid):
                continue
            self._journeys[uid] = _Journey(
                pod.metadata.namespace, pod.metadata.name, now.monotonic, now.monotonic
            )
            self._unplanned.add(uid)
            # Pods that waited before this process led were seen by another one.
            created = time_or_none(pod.metadata.creation_timestamp)
            if created is not None and not is_first:
                waited = now.seconds_since(created)
                yield Passed(JourneyStage.SEEN, max(0.0, waited))

    def _plan(self, world: World, now: float) -> Iterator[Passed]:
        places = world.ledger.planning.nominated.places
        for uid in self._unplanned.intersection(places):
            self._unplanned.discard(uid)
            journey, place = self._journeys[uid], places[uid]
            if place.is_bought_for:
                journey.machine = place.machine
                self._passengers[place.machine].add(uid)
                self._machines.setdefault(place.machine, 0)
            yield Passed(JourneyStage.PLANNED, self._step(journey, now))

    def _travel(self, world: World, now: float) -> Iterator[Passed]:
        for machine, before in list(self._machines.items()):
            passed = _stages_of(machine, world)
            if passed is None:
                self._leave(machine)
            elif passed > before:
                self._machines[machine] = passed
                for uid in self._passengers[machine]:
                    for stage in OF_MACHINES[before:passed]:
                        yield Passed(stage, self._step(self._journeys[uid], now))

    def _end(self, world: World, now: float) -> Iterator[Passed | Arrived]:
        for uid in self._journeys.keys() - world.pending.keys():
            journey = self._journeys.pop(uid)
            self._unplanned.discard(uid)
            self._get_off(uid, journey.machine)
            pod = self._pod_of(journey.namespace, journey.name)
            if pod is not None and pod.metadata.uid == uid and pod.spec.node_name:
                yield Passed(JourneyStage.BOUND, self._step(journey, now))
                yield Arrived(now - journey.seen_at, _seat(pod, journey, world))

    def _leave(self, machine: str) -> None:
        """Handle a failed machine: its pods are planned again."""
        del self._machines[machine]
        self._unplan(self._passengers.pop(machine, ()))

    def _unplan(self, uids: Iterable[str]) -> None:
        for uid in uids:
            self._journeys[uid].machine = ""
            self._unplanned.add(uid)

    def _get_off(self, uid: str, machine: str) -> None:
        passengers = self._passengers[machine]
        passengers.discard(uid)
        if not passengers:
            del self._passengers[machine]
            self._machines.pop(machine, None)

    @staticmethod
    def _step(journey: _Journey, now: float) -> float:
        seconds = now - journey.at
        journey.at = now
        return seconds


def _seat(pod: Pod, journey: _Journey, world: World) -> Seat:
    if not journey.machine:
        return Seat.NONE
    request = world.requests.get(pod.spec.node_name)
    # Pods of one workload may take each other's places.
    is_among_its_own = request is not None and workload_of(pod) in seats_of(request)
    is_planned = is_among_its_own or pod.spec.node_name == journey.machine
    return Seat.PLANNED if is_planned else Seat.OTHER


def _stages_of(machine: str, world: World) -> int | None:
    """The number of stages that a machine has passed; None if it has failed."""
    if machine in world.cluster.nodes:
        return len(OF_MACHINES)
    request = world.requests.get(machine)
    if request is None:
        return 0 if machine in unconfirmed(world) else None
    match request.status.phase:
        case RequestPhase.PENDING:
            return 1
        case RequestPhase.PROVISIONING | RequestPhase.READY:
            return 2
        case RequestPhase.UNMET | RequestPhase.DEPROVISIONING:
            return None
        case _:
            assert_never(request.status.phase)
