"""The real reconciler while events come late, never or twice, and while it stands still.

Each time a few pods get their machines, one each: no second one, whatever is told when. The numbers
are rows of the catalogue of faults (docs/concepts/faults.md).
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from growth.kube.transport import connect
from reconciler.effects.points import is_stable
from tests.faults.behind import SHORT_LEASE, leading_behind
from tests.faults.events import all_but_the_first
from tests.faults.lagging import lagging_api_server
from tests.faults.proxy import FaultProxy, fault_proxy
from tests.live import IN_TIME, bring_down, bring_up
from tests.thread import thirty
from tests.thread.growing import install
from tests.thread.lives import Lives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.faults.events import Told
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

LONG_ENOUGH = 3.0
"""For a wrong rule to buy again at once."""
BIND_WAIT = 8.0
"""Long enough for the scheduler of a busy machine, or second machines are bought rightly."""
stories = count()

PLANTED = {
    3: """
async def believes(self, request): pass
from reconciler.effects.carrying_out import Effects
Effects._check_bought_once = believes
""",
    17: """
from dataclasses import replace
from reconciler import loop, planning
from reconciler.planning.nominations import Nominated
def forgets(world, now):
    known = world.ledger.planning
    known = replace(known, unconfirmed={}, nominated=Nominated(), bought={})
    return planning.decide(world.remembering(replace(world.ledger, planning=known)), now)
(room,) = (room for room in loop.ROOMS if room.name == "planning")
loop.ROOMS = (loop.ROOMS[0], replace(room, decide=forgets))
loop.Loop.__init__.__kwdefaults__["rooms"] = loop.ROOMS
""",
    19: """
import math
from growth.kube.cache.own_writes import OwnWrites
OwnWrites.looked_for_at = lambda self, *, patience: math.inf
""",
}
"""Mistakes by the row that has to find them. Rows 16 and 18 are planted in the simulation only:
with one fence of the real process gone, the other still holds."""


@dataclass
class Stage:
    """A cluster with everything but pods and machines."""

    cluster: LiveCluster
    connection: Connection
    """Past every fault."""
    folder: Path

    async def begin(self) -> None:
        await thirty.begin(self.connection, next(stories), each=1)

    async def bound(self) -> None:
        await self._until(thirty.all_bound)

    async def requested(self) -> None:
        await self._until(thirty.all_requested)

    async def _until(self, is_so: Callable[[Connection, int], Awaitable[bool]]) -> None:
        began = monotonic()
        while not await is_so(self.connection, 1):
            assert monotonic() - began < IN_TIME, is_so.__name__
            await asyncio.sleep(0.05)

    async def ends_well(self) -> None:
        """Every pod on a machine of its own, and nothing else bought."""
        await thirty.settled(self.connection, each=1)
        # A pod that was bound unseen looks as if its machine had been bought in vain. Pools take
        # that back within a second; until then the next story would be planned around it.
        await self._until(thirty.nothing_in_vain)
        end = await thirty.end(self.connection)
        expected = Counter(dict.fromkeys(thirty.SHAPES, 1))
        assert end == thirty.End(machines=expected, unknown=frozenset(), bound=expected)
        for request in await thirty.requests(self.connection):
            told = Counter(event["name"] for event in request["status"]["events"])
            assert set(told.values()) == {1}, f"something was done twice: {told}"

    async def has_bought_once(self) -> None:
        assert len(await thirty.requests(self.connection)) == len(thirty.SHAPES)


@pytest.fixture(scope="module")
def acting() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    name = f"growth-test-{os.getpid()}-acting"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.create(*thirty.furniture())
        yield cluster
    finally:
        bring_down(name)


@pytest.fixture
async def stage(acting: LiveCluster, tmp_path: Path) -> AsyncIterator[Stage]:
    async with await connect(kubeconfig=acting.kubeconfig, process="test") as connection:
        yield Stage(acting, connection, tmp_path)
        await thirty.clear(connection)


@asynccontextmanager
async def through_a_proxy(
    stage: Stage, *, planted: str = "", **settings: str
) -> AsyncIterator[FaultProxy]:
    """The reconciler behind it, as the leader."""
    async with (
        fault_proxy(stage.cluster.kubeconfig, folder=stage.folder) as proxy,
        leading_behind(proxy, stage.folder, planted=planted, **settings),
    ):
        yield proxy


def is_bound(told: Told) -> bool:
    return "nodeName" in told.object["spec"]


async def row_3(stage: Stage, planted: str = "") -> None:
    """A pod is bound, and the cache isn't told for longer than its nomination lasts."""
    patience = {"GROWTH_BIND_WAIT": f"{BIND_WAIT}s"}
    async with through_a_proxy(stage, planted=planted, **patience) as proxy:
        held = proxy.events.hold("pods", is_bound)
        await stage.begin()
        await stage.bound()
        await asyncio.sleep(BIND_WAIT + LONG_ENOUGH)
        assert held.caught
        await stage.has_bought_once()
        held.release()
        await stage.ends_well()


async def row_17(stage: Stage, planted: str = "") -> None:
    """What has been requested comes back late."""
    async with through_a_proxy(stage, planted=planted) as proxy:
        held = proxy.events.hold("noderequests")
        await stage.begin()
        await stage.requested()
        await asyncio.sleep(LONG_ENOUGH)
        assert held.caught
        await stage.has_bought_once()
        held.release()
        await stage.ends_well()


async def test_events_that_come_twice_do_nothing_twice(stage: Stage) -> None:
    async with through_a_proxy(stage) as proxy:
        proxy.events.double()
        await stage.begin()
        await stage.ends_well()
        assert proxy.events.doubled
        assert proxy.requests["POST /apis/growth.dev/v1alpha1/noderequests"] == len(thirty.SHAPES)


async def lose(stage: Stage, *kinds: str, after: int = 0) -> None:
    """One event of each of these kinds is never told, which only a list shows."""
    async with through_a_proxy(stage) as proxy:
        for kind in kinds:
            proxy.events.drop(kind, all_but_the_first(after))
        await stage.begin()
        await asyncio.sleep(LONG_ENOUGH)
        # As after a compaction: no watch can go on, so everything is listed.
        proxy.answer(410, times=len(proxy.watches))
        proxy.cut_watches()
        await stage.ends_well()


async def test_row_19_an_event_that_is_lost_changes_nothing_in_the_end(stage: Stage) -> None:
    await lose(stage, "pods", "nodes", "noderequests")


async def row_19(stage: Stage, planted: str = "") -> None:
    """The event of a request of ours is lost, and nothing else would ever show it."""
    async with through_a_proxy(stage, planted=planted) as proxy:
        proxy.events.drop("noderequests")
        await stage.begin()
        await stage.ends_well()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pods", "nodes", "noderequests"])
@pytest.mark.parametrize("after", range(6))
async def test_row_19_whichever_event_is_lost_nothing_changes_in_the_end(
    stage: Stage, kind: str, after: int
) -> None:
    await lose(stage, kind, after=after)


async def row_18(stage: Stage, planted: str = "") -> None:
    """Every watch is led to a server that knows nothing of the last minute."""
    async with (
        lagging_api_server(stage.cluster) as old,
        through_a_proxy(stage, planted=planted) as proxy,
    ):
        current = proxy.server
        old.line.block()
        await stage.begin()
        await stage.ends_well()
        proxy.lead_to(old.server)
        await asyncio.sleep(LONG_ENOUGH)
        proxy.lead_to(current)
        old.line.unblock()
        await stage.ends_well()


async def freeze_at(stage: Stage, name: str, planted: str = "") -> None:
    """The leader stands still at a point for twice the lease, while another one takes over."""
    (stage.folder / "other").mkdir()
    frozen = Lives(stage.cluster.kubeconfig, folder=stage.folder, planted=planted, **SHORT_LEASE)
    other = Lives(stage.cluster.kubeconfig, folder=stage.folder / "other", **SHORT_LEASE)
    async with frozen.listening():
        await frozen.leads()
        frozen.tell_anew(ends=[name])
        await stage.begin()
        await frozen.freeze()
        async with other.listening():
            await other.leads()
            await stage.ends_well()
            frozen.thaw()
            await frozen.leads_no_longer()
            await asyncio.sleep(LONG_ENOUGH)
            await stage.ends_well()


POINTS = (
    "machine 1 of cx23-0: CreateNodeRequest (create NodeRequest), before",
    "machine 1 of cx23-0: CreateNodeRequest (create NodeRequest), after",
    "machine 1 of cx23-0: CreateMachine (create machine), before",
    "machine 1 of cx23-0: CreateMachine (create machine), after",
    "machine 1 of cx23-0: PatchStatus Provisioning (patch NodeRequest/status), before",
    "machine 1 of cx23-0: PatchStatus Provisioning (patch NodeRequest/status), after",
    "machine 1 of cx23-0: SetNode (patch Node), before",
    "machine 1 of cx23-0: SetNode (patch Node), after",
    "machine 1 of cx23-0: PatchStatus Ready (patch NodeRequest/status), before",
    "machine 1 of cx23-0: PatchStatus Ready (patch NodeRequest/status), after",
    "machine 1 of cx23-0: SetFinalizers (patch NodeRequest), before",
    "machine 1 of cx23-0: SetFinalizers (patch NodeRequest), after",
)


async def row_16(stage: Stage, planted: str = "") -> None:
    """A leader stands still right before it writes an intent."""
    await freeze_at(stage, POINTS[0], planted)


ROWS = {
    3: row_3,
    16: row_16,
    17: row_17,
    18: row_18,
    19: row_19,
}


@pytest.mark.parametrize("row", sorted(ROWS))
async def test_a_fault_of_the_catalogue_buys_nothing_twice_and_loses_nothing(
    stage: Stage, row: int
) -> None:
    await ROWS[row](stage)


@pytest.mark.long
@pytest.mark.parametrize("row", sorted(PLANTED))
async def test_a_planted_mistake_is_caught_by_its_fault(stage: Stage, row: int) -> None:
    with pytest.raises(AssertionError):
        await ROWS[row](stage, PLANTED[row])


@pytest.mark.long
@pytest.mark.parametrize("name", POINTS)
async def test_row_16_wherever_a_leader_was_frozen_it_does_nothing_twice(
    stage: Stage, name: str
) -> None:
    assert is_stable(name)
    await freeze_at(stage, name)
