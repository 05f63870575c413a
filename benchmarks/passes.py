"""Each pass of the reconciler in a large cluster: how long it takes, and which rule takes it.

The objects of `scale`, read as the caches read them, without a server and in virtual time: a new
leader starts, looks at everything once, and searches for nodes to replace. Each second one pod's
status changes. Questions to the solver are answered at once: nothing is to be replaced, or with
--replace, what the solver finds, for example of --pods 75000. Times are of the processor, because
other programs on the machine don't matter.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from benchmarks.scale_objects import large_cluster, machine_name
from growth.api.kinds import KINDS
from growth.instant import Instant
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.health import CacheHealth
from growth.kube.cache.resource import key_of
from reconciler.core.actions import Solve, Solved
from reconciler.core.timing import Timing
from reconciler.core.world import Replies
from reconciler.ledger import Ledger
from reconciler.loop import ROOMS, Room, decide
from reconciler.providers.port import ClassKey, Listing, Machine, MachineState, Sight
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.indexes import Views
from reconciler.seeing.sources import BUILT_IN
from reconciler.solver import Effort
from reconciler.solver.answering import answered_at_once, solve_within

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.loop import PassOutcome

GOAL: Final = 250.0
"""Milliseconds."""
BEGINNING: Final = datetime(2026, 6, 1, tzinfo=UTC)
HEALTHY: Final = CacheHealth(is_complete=True, listed_at=0.0, lists=1)
BETWEEN: Final = 0.01
"""Seconds between two passes at least, as in production."""
CLOUD: Final = ClassKey("KwokNodeClass", "default")
NAMES: Final = {
    "noderecords": "NodeRecord",
    "nodepools": "NodePool",
    "kwoknodeclasses": "KwokNodeClass",
    "replicasets": "replica_sets",
    "poddisruptionbudgets": "budgets",
}
"""What the caches call these plurals; others have the same name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="virtual seconds to play")
    parser.add_argument("--slowest", type=int, default=5, help="how many passes to show")
    parser.add_argument("--replace", action="store_true", help="let the solver answer")


def run(arguments: argparse.Namespace) -> None:
    """Play, and print."""
    known = LargeWorld(nodes=arguments.nodes, pods=arguments.pods, replaces=arguments.replace)
    # As the reconciler does after its first lists.
    gc.freeze()
    passes = list(known.passes(seconds=arguments.seconds))
    taken = sorted(each.milliseconds for each in passes)
    over = sum(each > GOAL for each in taken)
    print(
        f"{arguments.nodes} nodes, {arguments.pods} pods: {len(passes)} passes,"
        f" median {taken[len(taken) // 2]:.0f} ms, maximum {taken[-1]:.0f} ms;"
        f" {over} above the goal of {GOAL:.0f} ms"
    )
    for each in sorted(passes, key=lambda one: -one.milliseconds)[: arguments.slowest]:
        rules = ", ".join(f"{name} {spent:.0f}" for name, spent in each.most())
        print(f"  at {each.at:6.2f} s {each.milliseconds:6.0f} ms: {rules}{each.asked}")


class TimedPass(NamedTuple):
    """One pass: when it was, what it took, and what of it each rule took."""

    at: float
    milliseconds: float
    by_rule: Mapping[str, float]
    asked: str
    """The questions to the solver."""

    def most(self) -> list[tuple[str, float]]:
        """The rules that took most of it."""
        return sorted(self.by_rule.items(), key=lambda each: -each[1])[:3]


class LargeWorld:
    """A large cluster, its loop, and virtual time."""

    def __init__(self, *, nodes: int, pods: int, replaces: bool = False) -> None:
        self._replaces = replaces
        self._views = Views()
        self._clock = 0.0
        self._demand = KnownDemand(self._now)
        self._plans: dict[str, Solved] = {}
        self._spent: defaultdict[str, float] = defaultdict(float)
        machines = {name: _machine(name) for name in map(machine_name, range(nodes))}
        self._listing = Listing(at=self._now(), is_complete=True, machines=machines)
        self._pods: list[Pod] = []
        for plural, documents in large_cluster(nodes=nodes, pods=pods).items():
            self._read(plural, (documents.document(n).encode() for n in range(documents.count)))

    def passes(self, *, seconds: float) -> Iterator[TimedPass]:
        """One pass after another, each when it was asked for or something has changed."""
        ledger, rooms = Ledger(), [self._timed(room) for room in ROOMS]
        changes, changed_at = iter(self._pods), 1.0
        while self._clock < seconds:
            self._spent.clear()
            began = time.process_time()
            outcome = decide(self._world(ledger), self._now(), rooms)
            took = (time.process_time() - began) * 1e3
            asked = "".join(self._answered(outcome))
            yield TimedPass(self._clock, took, dict(self._spent), asked)
            ledger = outcome.ledger
            self._clock = min(max(outcome.wake_at, self._clock + BETWEEN), changed_at)
            if self._clock == changed_at:
                self._change(next(changes))
                changed_at += 1.0

    def _now(self) -> Instant:
        return Instant(self._clock, BEGINNING + timedelta(seconds=self._clock))

    def _read(self, plural: str, documents: Iterator[bytes]) -> None:
        name = NAMES.get(plural, plural)
        if name in BUILT_IN:
            read: Any = BUILT_IN[name][1]
        elif name in KINDS:
            read = KINDS[name].model_validate_json
        else:
            return
        objects = [read(text) for text in documents]
        changes = [Change(ChangeKind.ADDED, key_of(each), None, each) for each in objects]
        self._take(name, changes)
        if name == "pods":
            self._pods = objects

    def _take(self, kind: str, changes: list[Change[Any]]) -> None:
        self._views.take(kind, changes)
        self._demand.take(kind, changes)

    def _change(self, pod: Pod) -> None:
        self._take("pods", [Change(ChangeKind.MODIFIED, key_of(pod), pod, _again(pod))])

    def _world(self, ledger: Ledger) -> World:
        return self._views.world(
            ledger,
            demand=self._demand.at(self._now()),
            replies=Replies(plans=dict(self._plans)),
            clouds={CLOUD: self._sight()},
            busy=frozenset(),
            sources=dict.fromkeys((*BUILT_IN, *KINDS), HEALTHY),
            timing=Timing(),
            seed=1,
        )

    def _sight(self) -> Sight:
        if self._clock - self._listing.at.monotonic >= Timing().listing:
            self._listing = msgspec.structs.replace(self._listing, at=self._now())
        return Sight(listing=self._listing, before=self._listing)

    def _timed(self, room: Room[Any]) -> Room[Any]:
        return replace(room, decide=partial(self._measured, room))

    def _measured(self, room: Room[Any], world: World, now: Instant) -> Any:
        began = time.process_time()
        try:
            return room.decide(world, now)
        finally:
            self._spent[room.name] += (time.process_time() - began) * 1e3

    def _answered(self, outcome: PassOutcome) -> Iterator[str]:
        for sequence in outcome.sequences:
            for step in sequence.steps:
                if isinstance(step, Solve):
                    question = step.stated
                    if self._replaces:
                        plan = solve_within(question, Effort.QUICK)
                    else:
                        plan = answered_at_once(question)
                    self._plans[step.lane] = Solved(number=step.number, plan=plan)
                    yield f"; asked: {sequence.why}"


_numbers = count(2_000)


def _again(pod: Pod) -> Pod:
    """The pod after its kubelet has written its status: a new object."""
    metadata = msgspec.structs.replace(pod.metadata, resource_version=str(next(_numbers)))
    return msgspec.structs.replace(pod, metadata=metadata)


def _machine(name: str) -> Machine:
    return Machine(
        machine_id=f"kwok://{name}",
        name=name,
        request_uid=f"request-{name}",
        pool="default",
        state=MachineState.RUNNING,
    )
