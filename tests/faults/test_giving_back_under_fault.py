"""The real reconciler gives nodes back while it sees half of the pods, nothing, or all twice.

Four machines that have served for long, each with its pod. Whatever is told when, no machine goes
under a pod, and what is idle goes in the end. The numbers are rows of the catalogue of faults
(docs/concepts/faults.md); rows 6 and 14 are told in tests/replacement, row 9 by the process that is
killed at every point of the story of giving back.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.wellknown import SCALE_DOWN_TAINT
from growth.api.written import write_time
from growth.kube.call import MERGE_PATCH
from growth.kube.transport import connect
from tests.faults.behind import leading_behind
from tests.faults.events import named
from tests.faults.proxy import fault_proxy
from tests.live import IN_TIME
from tests.thread.clearing import cleared
from tests.thread.growing import cluster_for
from tests.thread.scaledown import PLACE, ROOM, is_marked, name_of, node, pod
from tests.thread.thirty import CLASSES, NODES, OURS, PODS, POOLS, RECORDS, REMOVALS, items, ours

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.faults.events import Told, Which
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

LONG_ENOUGH = 4.0
"""For a wrong rule to delete what is idle, four times over."""
OUTAGE = 8.0
"""Longer than a Lease lasts, and than a node is left idle: whoever led has to lead anew."""
SOON, LATER = 2.0, 7.0
NOTICED = 1.0
"""Seconds until growth knows that it sees nothing any more."""
HOME = "home"
ALWAYS = 1_000_000
numbers = count()

PLANTED = {
    4: """
from reconciler.effects import carrying_out as effects
async def looks_nowhere(connection, node, now): return ()
effects.pods_in_the_way = looks_nowhere
""",
    5: """
from reconciler.process import reconciling
from reconciler.removal.ledger import RemovalLedger
reconciling.RemovalLedger = lambda unseen: RemovalLedger()
""",
    13: """
from reconciler.seeing.sources import ReconcilerSources
ReconcilerSources.relist = lambda self, name: None
""",
}
"""Mistakes by the row that has to find them. Row 8 is planted in the simulation."""


class Village:
    """A few machines of one pool, and what became of them."""

    def __init__(self, cluster: LiveCluster, connection: Connection, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self._connection = connection
        """Past every fault."""
        self.houses = [next(numbers) for _ in range(4)]
        self._uids: dict[str, str] = {}

    async def build(self, *, idle_after: str = "1s") -> None:
        """The pods come before their nodes, so no node is ever seen without."""
        offers = [{"location": PLACE, "price": "0.0088"}]
        types = [{"name": "plain", "resources": ROOM, "offers": offers}]
        scale_down = {"idleAfter": idle_after, "retryAfter": "1s"}
        spec = {"serverTypes": [{"name": "plain", "max": 9}], "scaleDown": scale_down}
        await self._make(CLASSES, ours("KwokNodeClass", "default", {"types": types}))
        await self._make(POOLS, ours("NodePool", HOME, spec))
        for house in self.houses:
            await self._make(PODS, pod(dweller(house), nodeName=place(house)))
            await self._make(NODES, node(HOME, house))
        await self.until(self._all_serve, "all serve")
        self._uids = await self.nodes()

    async def _make(self, path: str, document: dict[str, Any]) -> None:
        await self._connection.request("POST", path, body=document)

    async def _all_serve(self) -> bool:
        found = await items(self._connection, NODES, OURS)
        pods = await items(self._connection, PODS)
        return all(is_ready(each) for each in (*found, *pods))

    async def comes(self, house: int) -> None:
        """Somebody who doesn't mind that a node is about to go."""
        tolerations = [{"key": SCALE_DOWN_TAINT, "operator": "Exists"}]
        visitor = pod(f"{dweller(house)}-visitor", nodeName=place(house), tolerations=tolerations)
        await self._make(PODS, visitor)

    async def leaves(self, house: int) -> None:
        """Its node is idle then."""
        now = {"gracePeriodSeconds": 0}
        await self._connection.request("DELETE", f"{PODS}/{dweller(house)}", body=now)

    async def dates(self, house: int, *, seconds: float) -> None:
        """Its record says that it goes so soon."""
        at = write_time(datetime.now(UTC) + timedelta(seconds=seconds))
        body = {"status": {"goesAt": at}}
        path = f"{RECORDS}/{place(house)}/status"
        await self._connection.request("PATCH", path, body=body, content_type=MERGE_PATCH)

    async def until_left(self, house: int) -> None:
        async def has_left() -> bool:
            return place(house) not in await self.nodes()

        await self.until(has_left, f"{house} is gone")

    async def sell(self) -> None:
        """Its pool is deleted, and all that belongs to it is to go."""
        await self.until(self._is_held, "the pool is looked after")
        await self._connection.request("DELETE", f"{POOLS}/{HOME}", body={})

    async def _is_held(self) -> bool:
        pools = await items(self._connection, POOLS)
        return all(each["metadata"].get("finalizers") for each in pools)

    async def nodes(self) -> dict[str, str]:
        """Uids by name: a node that was deleted and made anew has another one."""
        found = await items(self._connection, NODES, OURS)
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}

    async def marked(self) -> set[str]:
        found = await items(self._connection, NODES, OURS)
        return {each["metadata"]["name"] for each in found if is_marked(each)}

    async def until(self, is_so: Callable[[], Awaitable[bool]], goal: str) -> None:
        began = monotonic()
        while not await is_so():
            assert monotonic() - began < IN_TIME, f"not in time: {goal}"
            await asyncio.sleep(0.05)

    async def until_marked(self, *houses: int) -> None:
        async def are_marked() -> bool:
            return {place(house) for house in houses} <= await self.marked()

        await self.until(are_marked, f"{houses} are marked")

    async def until_gone(self, *houses: int) -> None:
        """Those and nobody else, and nothing is left to do."""

        async def are_gone() -> bool:
            there = await self.nodes()
            assert there.items() <= self._uids.items()
            gone = {place(house) for house in houses}
            assert self._uids.keys() - there.keys() <= gone, "another one went"
            return not gone & there.keys() and not await self._left()

        await self.until(are_gone, f"{houses} are gone, and nothing else")

    async def _left(self) -> int:
        return len(await self.marked()) + len(await items(self._connection, REMOVALS))


def place(house: int) -> str:
    return name_of(HOME, house)


def dweller(house: int) -> str:
    return f"{HOME}-{house}"


def is_ready(found: dict[str, Any]) -> bool:
    conditions = found.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@pytest.fixture(scope="module")
def inhabited() -> Iterator[LiveCluster]:
    """A cluster of its own: what is idle there goes."""
    with cluster_for("giving-back") as cluster:
        yield cluster


@pytest.fixture
async def village(inhabited: LiveCluster, tmp_path: Path) -> AsyncIterator[Village]:
    async with await connect(kubeconfig=inhabited.kubeconfig, process="test") as connection:
        yield Village(inhabited, connection, tmp_path)
        await cleared(connection)


def everybody(_: Village) -> Which:
    return lambda _: True


def half_of_them(village: Village) -> Which:
    hidden = {dweller(house) for house in village.houses[:2]}
    return lambda told: told.object["metadata"]["name"] in hidden


async def hidden(village: Village, which: Callable[[Village], Which], planted: str = "") -> None:
    """A process starts, and the first list of pods lacks some that there are."""
    await village.build()
    async with fault_proxy(village.cluster.kubeconfig, folder=village.folder) as proxy:
        lost = proxy.events.drop("pods", which(village), times=ALWAYS)
        async with leading_behind(proxy, village.folder, planted=planted):
            await village.until_marked(*village.houses[:2])
            await asyncio.sleep(LONG_ENOUGH)
            lost.end()
            proxy.answer(410, times=len(proxy.watches))
            proxy.cut_watches()
            await village.until_gone()


@pytest.mark.parametrize("which", [everybody, half_of_them])
async def test_row_4_no_node_goes_whose_pods_the_first_list_lacks(
    village: Village, which: Callable[[Village], Which]
) -> None:
    await hidden(village, which)


async def row_4(village: Village, planted: str) -> None:
    await hidden(village, everybody, planted)


async def row_5(village: Village, planted: str = "") -> None:
    """Three nodes are marked when the API server can't be reached any more; to one somebody comes.

    By the clock on the wall the time of both others is over when it is back. But each had some time
    left before, and has it still.
    """
    await village.build(idle_after="1h")
    visited, first, later, _ = village.houses
    async with (
        fault_proxy(village.cluster.kubeconfig, folder=village.folder) as proxy,
        leading_behind(proxy, village.folder, planted=planted) as lives,
    ):
        for house in (visited, first, later):
            await village.leaves(house)
        await village.until_marked(visited, first, later)
        dated = monotonic()
        await village.dates(first, seconds=SOON)
        await village.dates(later, seconds=LATER)
        await proxy.refuse()
        left = LATER - (monotonic() - dated)
        await village.comes(visited)
        await asyncio.gather(lives.leads_no_longer(), asyncio.sleep(OUTAGE))
        back = monotonic()
        await proxy.accept()
        await lives.leads(times=2)
        await village.until_left(first)
        await village.until_left(later)
        assert monotonic() - back > left - NOTICED, "the outage counted as idle time"
        await village.until_gone(first, later)


async def test_row_5_an_outage_is_no_idle_time(village: Village) -> None:
    await row_5(village)


async def test_row_8_events_that_come_twice_delete_nothing_twice(village: Village) -> None:
    await village.build()
    idle = village.houses[0]
    async with fault_proxy(village.cluster.kubeconfig, folder=village.folder) as proxy:
        proxy.events.double()
        async with leading_behind(proxy, village.folder):
            await village.leaves(idle)
            await village.until_gone(idle)
        assert proxy.events.doubled
        assert proxy.requests[f"POST {REMOVALS}"] == 1
        assert proxy.requests[f"DELETE {NODES}/{place(idle)}"] == 1


def is_about_its_end(name: str) -> Which:
    meant = named(name)

    def which(told: Told) -> bool:
        return meant(told) and "deletionTimestamp" in told.object["metadata"]

    return which


async def row_13(village: Village, planted: str = "") -> None:
    """All nodes are drained, and nobody is told that one of their pods has ended."""
    await village.build()
    unheard = village.houses[1]
    async with (
        fault_proxy(village.cluster.kubeconfig, folder=village.folder) as proxy,
        leading_behind(proxy, village.folder, planted=planted),
    ):
        proxy.events.drop("pods", is_about_its_end(dweller(unheard)), times=ALWAYS)
        await village.sell()
        await village.until_gone(*village.houses)
        assert proxy.events.dropped


async def test_row_13_a_drain_ends_though_the_end_of_a_pod_was_never_told(
    village: Village,
) -> None:
    await row_13(village)


ROWS = {4: row_4, 5: row_5, 13: row_13}


@pytest.mark.long
@pytest.mark.parametrize("row", sorted(PLANTED))
async def test_a_planted_mistake_is_caught_by_its_fault(village: Village, row: int) -> None:
    with pytest.raises(AssertionError):
        await ROWS[row](village, PLANTED[row])
