"""The cache before a real API server that dies, forgets, hangs and refuses.

After each fault: the cache equals a fresh list, nobody was told anything twice or missed anything,
and nothing is left in memory.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Index, Key, WatchedResource
from growth.kube.cache.timing import CacheTiming
from growth.kube.transport import Connection, connect
from growth.kube.writes import Decided, Writes
from tests.faults.control_plane import compact, kill_api_server, start_api_server
from tests.faults.lagging import lagging_api_server
from tests.faults.proxy import FaultProxy, fault_proxy
from tests.kube.mirror import Mirror
from tests.live import IN_TIME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str
    labels: dict[str, str] = {}


class Secret(msgspec.Struct, frozen=True, gc=False):
    """Of a kind that no controller makes on its own: in a namespace are those of the test."""

    metadata: Metadata
    data: dict[str, str] = {}


BY_COLOUR: Index[Secret] = Index("colour", lambda each: (each.data.get("colour"),))
decode = msgspec.json.Decoder(Secret).decode


@dataclass
class Stage:
    proxy: FaultProxy
    direct: Connection
    namespace: str
    reflector: Reflector[Secret]
    mirror: Mirror[Secret]
    beside: Reflector[Secret] | None = None
    """Another cache of the same objects."""

    @property
    def writes(self) -> Writes:
        return Writes(self.direct, path="/api/v1/secrets", noted=self.reflector.store.own)

    async def put(self, name: str, colour: str = "red") -> Decided:
        """Creates a secret past the proxy."""
        return await self.writes.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": self.namespace},
                "stringData": {"colour": colour},
            }
        )

    async def put_many(self, count: int, *, prefix: str = "many") -> None:
        numbers = iter(range(count))

        async def some() -> None:
            for number in numbers:
                await self.put(f"{prefix}-{number}", f"colour-{number % 7}")

        await asyncio.gather(*(some() for _ in range(20)))

    async def fresh(self) -> dict[Key, Secret]:
        path = f"/api/v1/namespaces/{self.namespace}/secrets"
        body = (await self.direct.request("GET", path, timeout=60)).body
        items = msgspec.json.decode(body, type=_Items).items
        return {Key(self.namespace, each.metadata.name): each for each in items}

    async def settled(self) -> None:
        """Waits until the cache has what a fresh list shows, and looks at everything."""
        store = self.reflector.store
        truth = await self.fresh()

        def is_equal() -> bool:
            return dict(store.objects) == truth and self.reflector.health.blind_since is None

        await until(is_equal)
        assert self.mirror.objects == truth
        colours = {each.data.get("colour") for each in truth.values()}
        assert set(store.values(BY_COLOUR)) == colours
        for colour in colours:
            same = {key for key, each in truth.items() if each.data.get("colour") == colour}
            assert set(store.by(BY_COLOUR, colour)) == same
        assert not store.own.keys
        caches = [each for each in (self.reflector, self.beside) if each is not None]
        assert len(_alive(besides=truth)) == sum(len(each.store) for each in caches)


class _Items(msgspec.Struct):
    items: list[Secret]


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(IN_TIME):
        while not done():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.02)


@pytest.fixture
def namespace(cluster: LiveCluster) -> Iterator[str]:
    """Without waiting for what pods need in it: controllers are slow after their server's death."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
async def stage(cluster: LiveCluster, namespace: str, tmp_path: Path) -> AsyncIterator[Stage]:
    async with (
        await connect(kubeconfig=cluster.kubeconfig, process="test") as direct,
        fault_proxy(cluster.kubeconfig, folder=tmp_path) as proxy,
        await connect(kubeconfig=proxy.kubeconfig, process="cache") as through,
        reflecting(through, namespace) as (reflector, mirror),
    ):
        yield Stage(proxy, direct, namespace, reflector, mirror)


@asynccontextmanager
async def reflecting(
    connection: Connection, namespace: str
) -> AsyncIterator[tuple[Reflector[Secret], Mirror[Secret]]]:
    mirror: Mirror[Secret] = Mirror()
    reflector = Reflector(
        server=connection,
        resource=WatchedResource(
            path=f"/api/v1/namespaces/{namespace}/secrets", decode=decode, indexes=(BY_COLOUR,)
        ),
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(3),
        changed=mirror.take,
        timing=CacheTiming(silence=2.0, longest_wait=1.0, answer=3.0, stable_interval=1.0),
    )
    running = asyncio.create_task(reflector.run())
    try:
        await asyncio.wait_for(reflector.synced(), IN_TIME)
        yield reflector, mirror
    finally:
        running.cancel()
        await asyncio.wait([running])
    assert running.cancelled()


async def test_an_api_server_that_is_killed_and_started_again(
    stage: Stage, cluster: LiveCluster
) -> None:
    await stage.put_many(20, prefix="before")
    await until(lambda: len(stage.reflector.store) > 0)
    command = await kill_api_server(cluster)
    try:
        await until(lambda: stage.reflector.health.problem != "")
        assert len(stage.reflector.store) > 0
    finally:
        await start_api_server(cluster, command)
    await stage.put("after", "blue")

    await stage.settled()


async def test_a_store_that_forgot_the_version_that_the_cache_is_at(
    stage: Stage, cluster: LiveCluster
) -> None:
    gone = await stage.put("gone")
    changed = await stage.put("changed")
    await stage.settled()
    await stage.proxy.refuse()
    await stage.writes.delete(gone)
    await stage.writes.merge(changed, {"stringData": {"colour": "blue"}})
    await stage.put("new")
    await compact(cluster)
    # What the API server still remembers itself is lost with it.
    await start_api_server(cluster, await kill_api_server(cluster))
    told = len(stage.mirror.told)
    await stage.proxy.accept()

    await stage.settled()
    assert stage.reflector.health.lists == 2
    assert sorted(stage.mirror.told[told:]) == [
        ("added", "new"),
        ("deleted", "gone"),
        ("modified", "changed"),
    ]


async def test_a_watch_that_is_cut_in_mid_line(stage: Stage) -> None:
    for number in range(5):
        stage.proxy.cut_watches_in_mid_line()
        await stage.put(f"cut-{number}")
        await until(lambda: not stage.reflector.store.own.keys)

    await stage.settled()
    assert stage.reflector.health.lists == 1
    assert sorted(stage.mirror.told)[:5] == [("added", f"cut-{number}") for number in range(5)]


async def test_a_watch_that_hangs_without_closing(stage: Stage) -> None:
    stage.proxy.hang_watches()
    await stage.put("unheard")

    await stage.settled()
    assert stage.reflector.health.lists == 1


@pytest.mark.parametrize(("code", "retry_after"), [(429, 1), (500, None)])
async def test_a_server_that_refuses_to_connect(
    stage: Stage, code: int, retry_after: int | None
) -> None:
    stage.proxy.answer(code, times=2, retry_after=retry_after)
    stage.proxy.cut_watches()
    await stage.put("refused")
    asked = stage.proxy.requests.total()

    await stage.settled()
    # Without a wait between two tries there would be hundreds.
    assert stage.proxy.requests.total() - asked <= 12


async def test_a_server_that_takes_requests_and_answers_none(stage: Stage) -> None:
    stage.proxy.delay(60)
    stage.proxy.cut_watches()
    await stage.put("unheard")
    await until(lambda: "no answer within" in stage.reflector.health.problem)
    stage.proxy.delay(0)

    await stage.settled()
    assert stage.reflector.health.lists == 1


async def test_a_server_that_nobody_listens_for(stage: Stage) -> None:
    await stage.proxy.refuse()
    await stage.put("unheard")
    await until(lambda: stage.reflector.health.problem != "")
    await stage.proxy.accept()

    await stage.settled()


async def test_a_server_that_says_410(stage: Stage) -> None:
    await stage.put("kept")
    await stage.settled()
    stage.proxy.answer(410)
    stage.proxy.cut_watches()
    await stage.put("new")

    await stage.settled()
    assert stage.reflector.health.lists == 2
    assert [name for _, name in stage.mirror.told if name in {"kept", "new"}] == ["kept", "new"]


async def test_answers_that_break_off_in_their_middle(stage: Stage) -> None:
    stage.reflector._streams_lists = False
    stage.proxy.halve_bodies(3)
    stage.proxy.answer(410)
    stage.proxy.cut_watches()
    await stage.put("new")

    await stage.settled()


@pytest.mark.long
async def test_a_second_server_that_lags_is_never_believed(
    stage: Stage, cluster: LiveCluster
) -> None:
    store, first = stage.reflector.store, stage.proxy.server
    async with lagging_api_server(cluster) as second:
        old = await stage.put("old")
        stage.proxy.lead_to(second.server)
        await stage.settled()
        second.line.block()

        stage.proxy.lead_to(first)
        await stage.writes.delete(old)
        await stage.put("new")
        await stage.settled()
        told, position = len(stage.mirror.told), int(store.position)

        stage.proxy.lead_to(second.server)
        await asyncio.sleep(12)
        assert stage.reflector.health.blind_since is not None
        assert stage.mirror.told[told:] == []
        assert int(store.position) == position

        second.line.unblock()
        await stage.put("newer")
        await stage.settled()
        assert stage.reflector.health.suspicion is None
        stage.proxy.lead_to(first)


@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_thousands_of_objects_that_appear_while_it_starts(
    stage: Stage, cluster: LiveCluster, count: int
) -> None:
    writing = asyncio.create_task(stage.put_many(count))
    await until(lambda: len(stage.reflector.store) > count // 10)
    async with (
        await connect(kubeconfig=stage.proxy.kubeconfig, process="late") as late,
        reflecting(late, stage.namespace) as (reflector, mirror),
    ):
        assert not writing.done()
        stage.proxy.cut_watches()
        await writing
        other = Stage(
            stage.proxy, stage.direct, stage.namespace, reflector, mirror, beside=stage.reflector
        )
        await other.settled()
    await replace(stage, beside=reflector).settled()


async def test_nothing_is_left_of_a_storm(stage: Stage) -> None:
    await stage.put_many(300)
    await stage.settled()
    tasks = len(asyncio.all_tasks())
    changing = await stage.put("changing")
    for colour in ("blue", "green", "red", "white", "black"):
        stage.proxy.cut_watches()
        changing = await stage.writes.merge(changing, {"stringData": {"colour": colour}})
        stage.reflector.relist()
        lists = stage.reflector.health.lists
        await until(lambda lists=lists: stage.reflector.health.lists > lists)  # type: ignore[misc]
    await stage.settled()

    # The proxy notices a moment later that nobody listens to a watch any more.
    await until(lambda: len(stage.proxy.watches) <= 1 and len(asyncio.all_tasks()) <= tasks)


def _alive(*, besides: dict[Key, Secret]) -> set[int]:
    """Structs aren't tracked by the collector, but the dicts that hold them are."""
    gc.unfreeze()
    gc.collect()
    held = {
        id(value)
        for each in gc.get_objects()
        if type(each) is dict
        for value in each.values()
        if isinstance(value, Secret)
    }
    return held - {id(each) for each in besides.values()}


async def test_every_request_says_who_asks(stage: Stage) -> None:
    await stage.settled()
    assert {agent.split(" ")[-1] for agent in stage.proxy.user_agents} == {"(cache)"}
