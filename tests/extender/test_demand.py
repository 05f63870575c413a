"""The book of the process: what feeds it, and when those who wait for news are woken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
import pytest

from extender.demand import DemandFeed
from extender.protocol import PodHead
from growth.api.nodepool import NodePool
from growth.demand.entry import EntryReason, State
from growth.demand.evidence import FEASIBLE_SECONDS
from growth.scheduling.objects import Pod
from tests.extender.build import added, changed, gone, unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.looptime

UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def waiting(name: str, *, version: int = 1, node: str = "", marked: bool = True) -> Pod:
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "shop",
                "uid": f"uid-{name}",
                "resourceVersion": str(version),
            },
            "spec": {"nodeName": node},
            "status": {"phase": "Pending", "conditions": [UNSCHEDULABLE] if marked else []},
        },
        Pod,
    )


def a_pool(name: str = "default") -> NodePool:
    spec = {"serverTypes": [{"name": "cx33", "max": 3}]}
    return NodePool.model_validate({"metadata": {"name": name}, "spec": spec})


def head(pod: Pod) -> PodHead:
    return msgspec.convert(msgspec.to_builtins(pod.metadata), PodHead, strict=False)


def a_complete_one(*pods: Pod, pools: Sequence[NodePool] = ()) -> DemandFeed:
    demand = DemandFeed()
    demand.follow_pods([added(pod) for pod in pods])
    demand.follow_pools([added(pool) for pool in pools or (a_pool(),)])
    demand.complete()
    return demand


def states(demand: DemandFeed) -> dict[str, tuple[State, str]]:
    return {each.name: (each.state, each.reason) for each in demand.book.entries.values()}


NEEDED = (State.DEMAND, EntryReason.UNSCHEDULABLE)
HELD = (State.HELD, EntryReason.FEASIBLE)


async def test_a_pod_that_was_given_up_on_is_demand_until_it_is_bound() -> None:
    pod = waiting("web")
    demand = a_complete_one(pod)
    assert states(demand) == {"web": NEEDED}

    demand.follow_pods([changed(pod, waiting("web", version=2, node="a"))])
    assert states(demand) == {}


async def test_a_pod_that_is_gone_is_no_demand() -> None:
    pod = waiting("web")
    demand = a_complete_one(pod)

    demand.follow_pods([gone(pod)])

    assert states(demand) == {}


async def test_a_filter_holds_the_demand_back_for_a_while() -> None:
    pod = waiting("web")
    demand = a_complete_one(pod)

    demand.feasible(head(pod))
    assert states(demand) == {"web": HELD}

    await asyncio.sleep(FEASIBLE_SECONDS + 0.1)
    assert states(demand) == {"web": NEEDED}


async def test_a_second_filter_holds_it_longer() -> None:
    pod = waiting("web")
    demand = a_complete_one(pod)

    demand.feasible(head(pod))
    await asyncio.sleep(FEASIBLE_SECONDS / 2)
    demand.feasible(head(pod))
    await asyncio.sleep(FEASIBLE_SECONDS * 3 / 4)
    assert states(demand) == {"web": HELD}

    await asyncio.sleep(FEASIBLE_SECONDS / 2)
    assert states(demand) == {"web": NEEDED}


async def test_a_filter_that_is_ahead_of_our_watch_counts() -> None:
    demand = a_complete_one()
    late = waiting("web")

    demand.feasible(head(late))
    demand.follow_pods([added(late)])

    assert states(demand) == {"web": HELD}


async def test_without_its_pool_demand_says_so_and_a_new_pool_mends_it() -> None:
    demand = a_complete_one(waiting("web"), pools=[a_pool("other")])
    assert states(demand) == {"web": (State.DEMAND, EntryReason.POOL_NOT_FOUND)}

    demand.follow_pools([added(a_pool())])
    assert states(demand) == {"web": NEEDED}

    demand.follow_pools([gone(a_pool())])
    assert states(demand) == {"web": (State.DEMAND, EntryReason.POOL_NOT_FOUND)}


async def test_a_pool_that_cannot_be_read_any_more_is_there_all_the_same() -> None:
    demand = a_complete_one(waiting("web"))

    demand.follow_pools([unreadable(a_pool())])

    assert states(demand) == {"web": NEEDED}


async def test_in_a_cluster_without_pools_every_pod_misses_its_own() -> None:
    demand = DemandFeed()
    demand.follow_pods([added(waiting("web"))])
    demand.complete()

    assert states(demand) == {"web": (State.DEMAND, EntryReason.POOL_NOT_FOUND)}


async def test_who_waits_for_news_wakes_when_the_book_moves() -> None:
    demand = a_complete_one()
    began = asyncio.get_running_loop().time()
    news = asyncio.create_task(demand.news(demand.book.position, within=60))
    await asyncio.sleep(1)

    demand.follow_pods([added(waiting("web"))])
    await news

    assert asyncio.get_running_loop().time() - began == pytest.approx(1)


async def test_who_waits_for_news_is_not_woken_by_what_is_none() -> None:
    demand = a_complete_one()
    began = asyncio.get_running_loop().time()
    news = asyncio.create_task(demand.news(demand.book.position, within=60))
    await asyncio.sleep(1)

    demand.follow_pods([added(waiting("bound", node="a")), added(waiting("new", marked=False))])
    await news

    assert asyncio.get_running_loop().time() - began == pytest.approx(60)


async def test_news_that_have_come_already_are_not_waited_for() -> None:
    demand = a_complete_one()
    before = demand.book.position
    demand.follow_pods([added(waiting("web"))])
    began = asyncio.get_running_loop().time()

    await demand.news(before, within=60)

    assert asyncio.get_running_loop().time() == began


async def test_the_end_of_a_hold_is_news() -> None:
    pod = waiting("web")
    demand = a_complete_one(pod)
    demand.feasible(head(pod))
    began = asyncio.get_running_loop().time()

    await demand.news(demand.book.position, within=3600)

    assert asyncio.get_running_loop().time() - began == pytest.approx(FEASIBLE_SECONDS, abs=0.1)


async def test_two_processes_never_take_each_others_positions_for_their_own() -> None:
    one, other = a_complete_one(), a_complete_one()

    assert one.book.after(other.book.position) is None
