"""The faults that happen from outside, each kind at its own rate, until the quiet time begins.

Faults of calls are decided where the call is made. Here are the others: watches that lag and break,
machines that die, clocks that jump, a process that is stopped.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from growth.api.noderequest import UnmetScope
from growth.kube.cache.resource import Key
from reconciler.simulation.cloud import Showing
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.people import People
from reconciler.simulation.refusals import CloudRefusal
from reconciler.simulation.second_writer import SecondWriter
from reconciler.simulation.server import with_metadata
from reconciler.simulation.strangers import Strangers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.scheduling.node import Node
    from reconciler.providers.port import Offering
    from reconciler.simulation.caches import Cache
    from reconciler.simulation.chance import Chance
    from reconciler.simulation.living import Living
    from reconciler.simulation.process import SimulatedProcess

MOST: Final = 0.6
"""The share of nodes that a partition cuts off."""
LEASE = 15.0
"""Seconds until another process takes over from a stopped one."""
REFUSED_FOR: Final = (30.0, 900.0)
"""Seconds of a refusal."""
TRUTH_LISTED_WITHIN: Final = 15.0
"""Seconds within which there is a correct listing: they are at most ten seconds apart."""
STRUCK: Final = (
    "nodes",
    "pods",
    "NodeRequest",
    "NodeRequest",
    "NodeRecord",
    "NodePool",
    "KwokNodeClass",
)
"""The watches that faults choose from; our own requests are twice as likely."""
RHYTHM: Final[Mapping[SimulatedFault, float]] = {
    SimulatedFault.WATCH_LAG: 240.0,
    SimulatedFault.WATCH_CUT: 180.0,
    SimulatedFault.STALE_SERVER: 400.0,
    SimulatedFault.FOREIGN_WRITE: 60.0,
    SimulatedFault.STOCK_OUT: 600.0,
    SimulatedFault.MACHINE_DIES: 600.0,
    SimulatedFault.OUTAGE: 900.0,
    SimulatedFault.PARTITION: 900.0,
    SimulatedFault.NODE_FORGOTTEN: 900.0,
    SimulatedFault.LISTING_EMPTY: 300.0,
    SimulatedFault.LISTING_BROKEN: 300.0,
    SimulatedFault.LISTING_STALE: 300.0,
    SimulatedFault.FREEZE: 300.0,
    SimulatedFault.CLOCK_JUMP: 900.0,
    SimulatedFault.CORDON: 200.0,
    SimulatedFault.KEPT: 300.0,
    SimulatedFault.NOTHING_MOVES: 600.0,
    SimulatedFault.VISITOR: 60.0,
    SimulatedFault.LOCATION_DOWN: 1200.0,
    SimulatedFault.QUOTA: 1200.0,
    SimulatedFault.FOREIGN_NODE: 300.0,
    SimulatedFault.LYING_NODE: 300.0,
    SimulatedFault.SECOND_WRITER: 900.0,
    SimulatedFault.POOL_BUDGETS: 900.0,
}
"""The average seconds between two faults of a kind."""


class SimulatedTrouble:
    """The faults from outside."""

    def __init__(self, living: Living, *, offerings: tuple[Offering, ...]) -> None:
        around = living.around
        self._server = around.server
        self._cloud = living.cloud
        self._faults = faults = around.faults
        self._timeline = around.timeline
        self._trace = around.trace
        self._offerings = offerings
        self._lives = living.lives
        self._lies_until = -TRUTH_LISTED_WITHIN
        """The time until which listings of the cloud are wrong."""
        strokes: dict[SimulatedFault, Callable[[Chance], None]] = {
            SimulatedFault.WATCH_LAG: self._lag,
            SimulatedFault.WATCH_CUT: self._cut,
            SimulatedFault.STALE_SERVER: self._fall_behind,
            SimulatedFault.FOREIGN_WRITE: self._write,
            SimulatedFault.STOCK_OUT: self._sell_out,
            SimulatedFault.MACHINE_DIES: self._kill_machine,
            SimulatedFault.OUTAGE: self._go_out,
            SimulatedFault.PARTITION: self._part,
            SimulatedFault.NODE_FORGOTTEN: self._forget_node,
            SimulatedFault.LISTING_EMPTY: lambda chance: self._show(Showing.NOTHING, chance),
            SimulatedFault.LISTING_BROKEN: lambda chance: self._show(Showing.HALF, chance),
            SimulatedFault.LISTING_STALE: lambda chance: self._show(Showing.THE_PAST, chance),
            SimulatedFault.FREEZE: self._freeze,
            SimulatedFault.CLOCK_JUMP: self._jump,
            SimulatedFault.LOCATION_DOWN: partial(self._refuse, UnmetScope.LOCATION),
            SimulatedFault.QUOTA: partial(self._refuse, UnmetScope.PROJECT),
            **People(living).strokes,
            **Strangers(living).strokes,
            **SecondWriter(living).strokes,
        }
        for kind, stroke in strokes.items():
            if kind in faults.kinds:
                self._arrange(kind, stroke)

    def _arrange(self, kind: SimulatedFault, stroke: Callable[[Chance], None]) -> None:
        pause = self._faults.chance(kind).pause(RHYTHM[kind])
        self._timeline.after(pause, self._strike, kind, stroke)

    def _strike(self, kind: SimulatedFault, stroke: Callable[[Chance], None]) -> None:
        if self._faults.strikes(kind, 1.0):
            stroke(self._faults.chance(kind))
            self._arrange(kind, stroke)

    def _a_cache(self, chance: Chance) -> Cache | None:
        leader = self._lives.leader
        if leader is None:
            return None
        return leader.caches[chance.one_of(STRUCK)]

    def _lag(self, chance: Chance) -> None:
        cache = self._a_cache(chance)
        if cache is not None:
            cache.lag = chance.between(0.05, 60.0)
            self._trace.note(f"fault: events of {cache.kind.name} come {cache.lag:.1f} s late")
            self._timeline.after(chance.between(5.0, 120.0), _catch_up, cache)

    def _cut(self, chance: Chance) -> None:
        cache = self._a_cache(chance)
        if cache is not None:
            self._trace.note(f"fault: the watch of {cache.kind.name} breaks")
            cache.cut(seconds=chance.between(0.1, 30.0), needs_list=chance.happens(0.5))

    def _fall_behind(self, chance: Chance) -> None:
        cache = self._a_cache(chance)
        if cache is not None:
            self._trace.note(f"fault: the watch of {cache.kind.name} comes back behind")
            cache.falls_behind(seconds=chance.between(5.0, 120.0), versions=chance.whole(1, 200))

    def _write(self, chance: Chance) -> None:
        nodes = tuple(self._server.kind("nodes").objects)
        if nodes:
            key = chance.one_of(nodes)
            self._server.change("nodes", key, lambda node: _annotated(node, self._timeline.now))

    def _sell_out(self, chance: Chance) -> None:
        offering = chance.one_of(self._offerings)
        self._trace.note(f"fault: {offering.name} is sold out in {offering.location}")
        self._cloud.refusals.sell_out(offering, seconds=chance.between(*REFUSED_FOR))

    def _refuse(self, scope: UnmetScope, chance: Chance) -> None:
        is_local = scope is UnmetScope.LOCATION
        location = chance.one_of(self._offerings).location if is_local else ""
        self._trace.note(f"fault: the cloud refuses everything {location}".rstrip())
        what = CloudRefusal(scope, location)
        self._cloud.refusals.refuse(what, seconds=chance.between(*REFUSED_FOR))

    def _kill_machine(self, chance: Chance) -> None:
        requests = self._server.kind("NodeRequest")
        # Machines that are still joining die by a fault of their own, which seeds draw apart from
        # this one.
        serving = [name for name in self._cloud.machines if _is_done(requests.named(name))]
        if serving:
            self._cloud.die(chance.one_of(serving))

    def _go_out(self, chance: Chance) -> None:
        leader = self._lives.leader
        if leader is not None:
            self._trace.note("fault: nothing is heard of pods")
            leader.caches["pods"].cut(seconds=chance.between(100.0, 280.0), needs_list=True)

    def _part(self, chance: Chance) -> None:
        seconds = chance.between(60.0, 280.0)
        silent = [name for name in self._cloud.machines if chance.happens(MOST)]
        self._trace.note(f"fault: {len(silent)} nodes are not heard of for {seconds:.0f} s")
        self._cloud.part(silent, seconds=seconds)

    def _forget_node(self, chance: Chance) -> None:
        nodes = self._server.kind("nodes")
        requests = self._server.kind("NodeRequest")
        serving = [
            name
            for name, machine in self._cloud.machines.items()
            if machine.is_serving and nodes.named(name) and requests.named(name) is None
        ]
        if serving:
            name = chance.one_of(serving)
            self._trace.note(f"fault: somebody deletes the Node {name}")
            self._cloud.forgotten.add(name)
            self._server.delete("nodes", Key("", name))

    def _show(self, showing: Showing, chance: Chance) -> None:
        # Empty listings that agree for a stable interval are trusted. So a period of them is
        # shorter than that, and begins only after a correct listing: two periods in a row would
        # look exactly like a cloud whose machines are really gone.
        seconds = chance.between(1.0, 9.0 if showing is Showing.NOTHING else 60.0)
        now = self._timeline.now
        if showing is Showing.NOTHING and now < self._lies_until + TRUTH_LISTED_WITHIN:
            return
        self._lies_until = max(self._lies_until, now + seconds)
        self._trace.note(f"fault: the cloud shows {showing}")
        self._cloud.show(showing, seconds=seconds)

    def _freeze(self, chance: Chance) -> None:
        frozen = self._lives.leader
        if frozen is None or frozen.is_frozen:
            return
        self._trace.note(f"fault: {frozen.name} stands still")
        frozen.is_frozen = True
        self._timeline.after(LEASE, self._depose, frozen)
        self._timeline.after(LEASE + chance.between(0.1, 30.0), self._thaw, frozen)

    def _depose(self, frozen: SimulatedProcess) -> None:
        frozen.leads = False
        self._lives.begin()

    def _thaw(self, frozen: SimulatedProcess) -> None:
        self._trace.note(f"{frozen.name} goes on")
        frozen.thaw()
        # Then its own clock shows that the Lease has expired; until then it may still act.
        self._timeline.after(0.05, frozen.end)

    def _jump(self, chance: Chance) -> None:
        leader = self._lives.leader
        if leader is not None:
            leader.jump = chance.between(-300.0, 300.0)
            self._trace.note(f"fault: the clock on the wall is moved to {leader.jump:+.0f} s")


def _catch_up(cache: Cache) -> None:
    cache.lag = 0.0


def _annotated(node: Node, now: float) -> Node:
    annotated: Node = with_metadata(
        node, annotations={**node.metadata.annotations, "others.example/seen": f"{now:.0f}"}
    )
    return annotated


def _is_done(request: object) -> bool:
    """Whether the request of a machine is Ready or gone."""
    status = getattr(request, "status", None)
    return status is None or status.ready_at is not None
