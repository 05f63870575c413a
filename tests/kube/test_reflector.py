from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from growth.errors import GiveUp, Misconfigured, RetryLater
from growth.kube.cache.health import Suspicion
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.own_writes import Deleted, OwnCreate, OwnWrite
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Key
from growth.kube.cache.timing import CacheTiming
from growth.kube.errors import Denied, Expired, Overloaded, Unreachable
from tests.kube.memory import BY_COLOUR, THINGS, MemoryServer, MemoryStream, Metadata, Thing
from tests.kube.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.cache.health import CacheHealth
    from growth.kube.transport import Response

pytestmark = pytest.mark.looptime


@dataclass
class Stage:
    server: MemoryServer
    reflector: Reflector[Thing]
    mirror: Mirror[Thing]
    registry: CollectorRegistry

    @property
    def health(self) -> CacheHealth:
        return self.reflector.health

    def suspicion(self) -> Suspicion | None:
        return self.health.suspicion

    def is_complete(self) -> bool:
        return self.health.is_complete

    def metric(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, {"resource": "things", **labels}) or 0.0

    def assert_equal(self) -> None:
        store = self.reflector.store
        truth = {
            key: (thing["metadata"]["resourceVersion"], thing["colour"])
            for key, thing in self.server.things.items()
            if isinstance(thing["colour"], str)
        }
        held = {
            key: (thing.metadata.resource_version, thing.colour)
            for key, thing in store.objects.items()
        }
        assert held == truth
        assert self.mirror.objects == dict(store.objects)
        colours = {colour for _, colour in truth.values()}
        assert set(store.values(BY_COLOUR)) == colours
        for colour in colours:
            assert set(store.by(BY_COLOUR, colour)) == {
                key for key, (_, its) in truth.items() if its == colour
            }


@asynccontextmanager
async def staged(*names: str, server: MemoryServer | None = None) -> AsyncIterator[Stage]:
    chance = Random(7)
    server = server or MemoryServer(chance)
    for name in names:
        server.put(name)
    mirror: Mirror[Thing] = Mirror()
    registry = CollectorRegistry()
    reflector = Reflector(
        server=server,
        resource=THINGS,
        metrics=CacheMetrics(registry),
        chance=chance,
        changed=mirror.take,
        timing=CacheTiming(page_size=2),
    )
    running = asyncio.create_task(reflector.run())
    try:
        yield Stage(server, reflector, mirror, registry)
    finally:
        running.cancel()
        await asyncio.wait([running])
    assert running.cancelled()


async def test_a_cache_is_synced_when_its_first_list_is_whole() -> None:
    async with staged("a", "b") as stage:
        assert not stage.is_complete()
        await stage.reflector.synced()

        assert stage.is_complete()
        assert stage.health.blind_since is None
        stage.assert_equal()
        assert stage.server.asked[0]["sendInitialEvents"] == "true"
        assert "resourceVersion" not in stage.server.asked[0]


async def test_the_end_of_a_list_is_the_marked_bookmark_not_the_first() -> None:
    server = MemoryServer(Random(1))
    server.put("a")
    begin = server._begin

    async def with_bookmark_before(stream: MemoryStream, **rest: Any) -> None:
        stream.rest += b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"101"}}}\n'
        await begin(stream, **rest)

    server._begin = with_bookmark_before  # type: ignore[method-assign]
    async with staged(server=server) as stage:
        await stage.reflector.synced()
        stage.assert_equal()


async def test_what_happens_while_a_list_streams_is_part_of_it() -> None:
    server = MemoryServer(Random(1))
    server.put("a")
    server.put("b")
    begin = server._begin

    async def with_deletion_within(stream: MemoryStream, **rest: Any) -> None:
        await begin(stream, **rest)
        *things, end = stream.rest.splitlines(keepends=True)
        server.delete("a")
        stream.sent = server.revision
        end = end.replace(b"103", str(server.revision).encode())
        stream.rest = b"".join([*things, server.history[-1].line, end])

    server._begin = with_deletion_within  # type: ignore[method-assign]
    async with staged(server=server) as stage:
        await stage.reflector.synced()
        stage.assert_equal()
        assert stage.mirror.told == [("added", "b")]


async def test_events_are_applied_in_order_and_found_by_index() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.put("b", "blue")
        stage.server.put("a", "blue")
        stage.server.delete("b")
        stage.server.put("b", "green")
        await asyncio.sleep(1)

        stage.assert_equal()
        assert stage.mirror.told == [
            ("added", "a"),
            ("added", "b"),
            ("modified", "a"),
            ("deleted", "b"),
            ("added", "b"),
        ]
        assert stage.metric("growth_cache_objects") == 2
        assert stage.metric("growth_cache_changes_total", change="deleted") == 1


async def test_a_server_without_streaming_lists_is_read_page_by_page() -> None:
    server = MemoryServer(Random(1), streams_lists=False)
    async with staged("a", "b", "c", "d", "e", server=server) as stage:
        await stage.reflector.synced()
        stage.server.put("f")
        await asyncio.sleep(1)

        stage.assert_equal()
        assert [asked.get("limit") for asked in server.asked] == [None, "2", "2", "2", None]


async def test_a_streamed_list_without_an_end_is_replaced_by_pages() -> None:
    server = MemoryServer(Random(1))
    begin = server._begin

    async def without_end(stream: MemoryStream, **rest: Any) -> None:
        await begin(stream, **rest)
        stream.rest = b"".join(stream.rest.splitlines(keepends=True)[:-1])

    server._begin = without_end  # type: ignore[method-assign]
    async with staged("a", "b", "c", server=server) as stage:
        await asyncio.sleep(170)
        assert not stage.is_complete()
        await asyncio.sleep(20)

        stage.assert_equal()
        assert stage.is_complete()


async def test_a_page_that_is_none_is_asked_for_again() -> None:
    server = MemoryServer(Random(1), streams_lists=False)
    request = server.request

    async def halved(*arguments: Any, **rest: Any) -> Response:
        answer = await request(*arguments, **rest)
        server.request = request  # type: ignore[method-assign]
        return msgspec.structs.replace(answer, body=answer.body[: len(answer.body) // 2])

    server.request = halved  # type: ignore[method-assign]
    async with staged("a", "b", "c", server=server) as stage:
        await asyncio.sleep(5)

        stage.assert_equal()
        assert stage.metric("growth_cache_failures_total", error="Garbled") == 1


async def test_pages_that_expire_are_replaced_by_one_large_list() -> None:
    server = MemoryServer(Random(1), streams_lists=False)
    request = server.request

    async def then_compacted(*arguments: Any, **rest: Any) -> Response:
        answer = await request(*arguments, **rest)
        server.put("z")
        server.compact()
        return answer

    server.request = then_compacted  # type: ignore[method-assign]
    async with staged("a", "b", "c", server=server) as stage:
        await stage.reflector.synced()
        await asyncio.sleep(5)
        server.request = request  # type: ignore[method-assign]
        stage.reflector.relist()
        await asyncio.sleep(60)
        stage.assert_equal()


async def test_a_cut_watch_goes_on_where_it_was_and_nothing_is_told_twice() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        await asyncio.sleep(10)
        stage.server.put("b")
        await asyncio.sleep(0.1)
        stage.server.cut(rest=b'{"type":"MODIFIED","object":{"meta')
        stage.server.put("c")
        await asyncio.sleep(1)

        stage.assert_equal()
        assert stage.mirror.told == [("added", "a"), ("added", "b"), ("added", "c")]
        assert stage.health.lists == 1


async def test_a_watch_that_is_ended_politely_is_opened_again_at_once() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        await asyncio.sleep(10)
        stage.server.end()
        await asyncio.sleep(0)
        stage.server.put("b")
        await asyncio.sleep(0.001)

        stage.assert_equal()


async def test_a_server_that_closes_at_once_is_not_asked_in_a_loop() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        for _ in range(1200):
            stage.server.end()
            await asyncio.sleep(0.1)

        assert len(stage.server.asked) < 30


async def test_what_was_missed_is_found_by_the_list_after_a_410() -> None:
    async with staged("gone", "kept", "changed") as stage:
        await stage.reflector.synced()
        kept = stage.reflector.store.get("kept", namespace="shop")
        stage.server.cut()
        stage.server.delete("gone")
        stage.server.put("changed", "blue")
        stage.server.put("new")
        stage.server.delete("new")
        stage.server.put("new")
        stage.server.compact()
        await asyncio.sleep(5)

        stage.assert_equal()
        assert stage.mirror.told[3:] == [
            ("deleted", "gone"),
            ("modified", "changed"),
            ("added", "new"),
        ]
        assert stage.reflector.store.get("kept", namespace="shop") is kept
        assert stage.metric("growth_cache_lists_total", cause="expired") == 1


async def test_a_name_used_again_while_nobody_looked_is_a_deletion_and_a_new_object() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.cut()
        stage.server.delete("a")
        stage.server.put("a")
        stage.server.compact()
        await asyncio.sleep(5)

        stage.assert_equal()
        assert stage.mirror.told == [("added", "a"), ("deleted", "a"), ("added", "a")]


async def test_bookmarks_move_the_version_so_that_a_quiet_kind_never_expires() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.revision += 1000
        await asyncio.sleep(61)
        stage.server.compact()
        stage.server.cut()
        await asyncio.sleep(5)

        assert stage.health.lists == 1
        assert stage.reflector.store.position == str(stage.server.revision)


async def test_a_watch_without_a_sign_of_life_is_given_up() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        heard = stage.health.last_heard
        stage.server.hang()
        stage.server.put("b")
        await asyncio.sleep(89)
        assert len(stage.reflector.store) == 1
        await asyncio.sleep(2)

        stage.assert_equal()
        assert heard is not None
        assert stage.health.blind_since is None


async def test_a_blind_cache_says_since_when_it_hears_nothing() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        heard = stage.health.last_heard
        stage.server.refusals = [Overloaded("no") for _ in range(8)]
        await asyncio.sleep(20)
        stage.server.cut()
        await asyncio.sleep(5)

        assert stage.health.blind_since == heard
        assert stage.health.problem == "no"
        stage.server.refusals.clear()
        await asyncio.sleep(30)
        assert stage.health.blind_since is None
        assert stage.health.problem == ""


async def test_retry_after_is_honoured() -> None:
    server = MemoryServer(Random(1))
    server.refusals = [Overloaded("no", after=20.0)]
    async with staged("a", server=server) as stage:
        await asyncio.sleep(19)
        assert len(server.asked) == 1
        await asyncio.sleep(11)
        assert len(server.asked) == 2
        stage.assert_equal()


async def test_waits_grow_and_have_a_limit() -> None:
    server = MemoryServer(Random(1))
    server.refusals = [Denied("may not") for _ in range(1000)]
    async with staged(server=server):
        await asyncio.sleep(3600)

        assert 3600 / 30 <= len(server.asked) <= 3600 / 15 + 10


async def test_an_object_that_cannot_be_decoded_is_told_and_harms_no_other() -> None:
    async with staged("a", "b") as stage:
        await stage.reflector.synced()
        stage.server.put("a", 17)
        stage.server.put("b", "blue")
        await asyncio.sleep(1)

        stage.assert_equal()
        [unreadable] = stage.reflector.store.unreadable.values()
        assert unreadable.key == Key("shop", "a")
        assert "colour" in unreadable.problem
        assert stage.health.unreadable == 1
        assert stage.mirror.told[2:] == [("unreadable", "a"), ("modified", "b")]

        stage.server.put("a", "green")
        await asyncio.sleep(1)
        stage.assert_equal()
        assert stage.health.unreadable == 0
        assert stage.mirror.told[4:] == [("added", "a")]


@pytest.mark.parametrize(
    "garbage",
    [
        b"no json\n",
        b'{"type":"ADDED","object":{}\n',
        b'{"type":4}\n',
        b'{"type":"ADDED","object":{"metadata":7}}\n',
    ],
)
async def test_garbage_leads_to_a_new_list(garbage: bytes) -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.say(garbage)
        await asyncio.sleep(5)
        stage.server.put("b")
        await asyncio.sleep(1)

        stage.assert_equal()
        assert stage.metric("growth_cache_lists_total", cause="lost") == 1


async def test_a_doubled_event_changes_nothing() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.put("b")
        stage.server.say(stage.server.history[-1].line)
        stage.server.delete("a")
        stage.server.say(stage.server.history[-1].line)
        await asyncio.sleep(1)

        stage.assert_equal()
        assert stage.mirror.told == [("added", "a"), ("added", "b"), ("deleted", "a")]


async def test_an_old_event_is_not_believed() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        old = stage.server.history[-1].line
        stage.server.delete("a")
        await asyncio.sleep(1)
        stage.server.say(old)
        await asyncio.sleep(5)

        stage.assert_equal()
        assert stage.mirror.told == [("added", "a"), ("deleted", "a")]


async def test_a_server_that_is_behind_is_never_believed() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.freeze()
        lagging = stage.server.frozen
        stage.server.thaw()
        stage.server.put("b")
        stage.server.delete("a")
        await asyncio.sleep(1)
        stage.server.frozen = lagging
        stage.reflector.relist()
        await asyncio.sleep(300)

        assert [key.name for key in stage.reflector.store.objects] == ["b"]
        assert stage.health.blind_since is not None
        assert stage.suspicion() is None
        stage.server.thaw()
        await asyncio.sleep(60)
        stage.assert_equal()
        assert stage.health.blind_since is None


async def test_a_restored_server_is_read_anew_and_suspicious_until_a_second_list_agrees() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        backup = stage.server.backup()
        stage.server.put("b")
        await asyncio.sleep(10)
        stage.server.restore(backup)
        while stage.suspicion() is None:  # noqa: ASYNC110 - the clock is virtual
            await asyncio.sleep(0.1)

        stage.assert_equal()
        assert stage.suspicion() is Suspicion.WENT_BACK
        await asyncio.sleep(9)
        assert stage.suspicion() is Suspicion.WENT_BACK
        await asyncio.sleep(3)
        assert stage.suspicion() is None
        assert stage.metric("growth_cache_lists_total", cause="confirmation") == 1


async def test_a_list_with_less_than_half_is_suspicious_but_watched_deletions_are_not() -> None:
    async with staged("a", "b", "c", "d", "e") as stage:
        await stage.reflector.synced()
        stage.server.delete("a")
        stage.server.delete("b")
        stage.server.delete("c")
        await asyncio.sleep(1)
        assert stage.suspicion() is None

        stage.server.put("a")
        await asyncio.sleep(1)
        stage.server.cut()
        stage.server.delete("a")
        stage.server.delete("d")
        stage.server.compact()
        await asyncio.sleep(2)
        stage.assert_equal()
        assert stage.suspicion() is Suspicion.SHRANK
        await asyncio.sleep(12)
        assert stage.suspicion() is None


async def test_events_that_were_lost_on_the_way_are_found_by_the_next_list() -> None:
    async with staged("a", "b", "c") as stage:
        await stage.reflector.synced()
        stage.server.put("a", "blue")
        stage.server.lose()
        stage.server.delete("b")
        stage.server.lose()
        stage.server.put("c", "green")
        await asyncio.sleep(1000)
        assert {key.name for key in stage.reflector.store.objects} == {"a", "b", "c"}

        await asyncio.sleep(4000)
        stage.assert_equal()
        assert stage.suspicion() is None
        assert stage.metric("growth_cache_lists_total", cause="refresh") >= 1


async def test_a_second_list_that_comes_too_early_does_not_clear_a_suspicion() -> None:
    async with staged("a", "b", "c") as stage:
        await stage.reflector.synced()
        stage.server.cut()
        for name in "abc":
            stage.server.delete(name)
        stage.server.compact()
        await asyncio.sleep(2)
        stage.reflector.relist()
        await asyncio.sleep(2)

        assert stage.health.lists == 3
        assert stage.suspicion() is Suspicion.SHRANK


async def test_a_list_asked_for_while_the_watch_is_opened_is_not_forgotten() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        await asyncio.sleep(10)
        stage.server.end()
        open_watch = stage.server.stream

        def then_asked(*arguments: Any, **rest: Any) -> Any:
            stage.reflector.relist()
            stage.server.stream = open_watch  # type: ignore[method-assign]
            return open_watch(*arguments, **rest)

        stage.server.stream = then_asked  # type: ignore[method-assign]
        await asyncio.sleep(1)

        assert stage.metric("growth_cache_lists_total", cause="asked") == 1


async def test_an_unreadable_object_in_a_list_is_told_of_too() -> None:
    server = MemoryServer(Random(1))
    server.put("bad", 17)
    async with staged("good", server=server) as stage:
        with capture_logs() as logs:
            await stage.reflector.synced()

        stage.assert_equal()
        assert [(line["first"], line["count"]) for line in logs] == [("shop/bad", 1)]
        assert set(stage.reflector.store.unreadable) == {Key("shop", "bad")}
        assert stage.metric("growth_cache_unreadable_objects") == 1
        stage.server.delete("bad")
        await asyncio.sleep(1)
        assert not stage.reflector.store.unreadable
        assert stage.mirror.told[1:] == [("deleted", "bad")]


async def test_an_object_that_is_gone_from_the_next_list_is_told_though_it_was_not_readable() -> (
    None
):
    server = MemoryServer(Random(1))
    async with staged("bad", server=server) as stage:
        await stage.reflector.synced()
        server.put("bad", 17)
        await asyncio.sleep(1)
        server.cut()
        server.delete("bad")
        server.compact()
        await asyncio.sleep(2)
        assert stage.mirror.told[1:] == [("unreadable", "bad"), ("deleted", "bad")]


async def test_an_own_write_is_unseen_until_the_cache_has_it() -> None:
    async with staged("a") as stage:
        store = stage.reflector.store
        await stage.reflector.synced()
        key, uid, version = stage.server.put("a", "blue")
        store.own.note(key, OwnWrite(uid=uid, version=version))
        assert store.own.is_unseen(key)
        assert store.own.keys == {key}

        await store.own.seen(key, timeout=5)

        assert not store.own.is_unseen(key)
        assert store.get("a", namespace="shop").colour == "blue"  # type: ignore[union-attr]
        assert stage.metric("growth_cache_lag_seconds_count") == 1


async def test_a_write_that_the_cache_has_already_is_not_waited_for() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        key, uid, version = stage.server.put("a", "blue")
        await asyncio.sleep(1)
        stage.reflector.store.own.note(key, OwnWrite(uid=uid, version=version))

        assert not stage.reflector.store.own.is_unseen(key)


async def test_waiting_for_an_own_write_has_an_end() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.hang()
        key, uid, version = stage.server.put("a", "blue")
        stage.reflector.store.own.note(key, OwnWrite(uid=uid, version=version))

        with pytest.raises(RetryLater, match="a: our write is not in the cache after 5 s"):
            await stage.reflector.store.own.seen(key, timeout=5)


async def test_a_write_whose_event_was_overtaken_is_seen_by_its_version() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        key, uid, version = stage.server.put("a", "blue")
        stage.server.delete("a")
        stage.server.cut()
        stage.server.compact()
        stage.reflector.store.own.note(key, OwnWrite(uid=uid, version=version))
        await asyncio.sleep(20)

        assert not stage.reflector.store.own.is_unseen(key)


async def test_a_deletion_is_seen_when_the_object_is_gone() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        thing = stage.reflector.store.get("a", namespace="shop")
        assert thing is not None
        stage.server.delete("a")
        key = Key("shop", "a")
        own = stage.reflector.store.own
        own.note(key, Deleted(uid=thing.metadata.uid, version=thing.metadata.resource_version))
        assert own.is_unseen(key)

        await own.seen(key, timeout=5)


async def test_a_deletion_is_not_seen_in_a_cache_that_is_behind_the_deleted_version() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        own = stage.reflector.store.own
        key, uid, version = stage.server.put("a", "blue")
        new_key, new_uid, new_version = stage.server.put("new")
        stage.server.delete("a")
        stage.server.delete("new")
        own.note(key, Deleted(uid=uid, version=version))
        own.note(new_key, Deleted(uid=new_uid, version=new_version))

        assert own.keys == {key, new_key}
        await asyncio.sleep(1)
        assert not own.keys


async def test_who_waits_for_a_write_is_woken_by_a_bookmark_too() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        batches: list[int] = []
        stage.reflector._intake._changed = lambda changes: batches.append(len(changes))
        stage.server.revision += 5
        own = stage.reflector.store.own
        own.note(Key("shop", "b"), OwnWrite(uid="gone", version=str(stage.server.revision)))
        await asyncio.sleep(61)

        assert batches == [0]
        assert not own.keys


async def test_a_write_that_a_restore_took_back_is_let_go_by_a_list_a_minute_later() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        backup = stage.server.backup()
        await asyncio.sleep(10)
        stage.server.hang()
        key, uid, version = stage.server.put("b")
        stage.reflector.store.own.note(key, OwnWrite(uid=uid, version=version))
        stage.server.restore(backup)
        await asyncio.sleep(55)
        assert stage.reflector.store.own.is_unseen(key)
        await asyncio.sleep(10)

        stage.assert_equal()
        assert not stage.reflector.store.own.is_unseen(key)
        assert stage.metric("growth_cache_lists_total", cause="unseen") == 1


async def test_a_write_whose_event_was_lost_is_unseen_whatever_came_after_it() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        store = stage.reflector.store
        key, uid, version = stage.server.put("a", "blue")
        stage.server.history.pop()
        store.own.note(key, OwnWrite(uid=uid, version=version))
        stage.server.put("b")
        await asyncio.sleep(55)
        assert store.get("b", namespace="shop") is not None
        assert store.own.is_unseen(key), "or it would be decided on in the state before"
        await asyncio.sleep(10)

        stage.assert_equal()
        assert not store.own.is_unseen(key)
        assert stage.metric("growth_cache_lists_total", cause="unseen") == 1


async def test_what_was_made_is_listed_as_soon_as_the_cache_is_past_its_lost_event() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        own = stage.reflector.store.own
        key, uid, version = stage.server.put("b")
        stage.server.history.pop()
        own.note(key, OwnCreate(uid=uid, version=version))
        stage.server.put("c")
        await asyncio.sleep(1)

        stage.assert_equal()
        assert not own.is_unseen(key)
        assert stage.metric("growth_cache_lists_total", cause="unseen") == 1


async def test_what_was_made_is_unseen_however_long_no_list_comes() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        own = stage.reflector.store.own
        key, uid, version = stage.server.put("b")
        stage.server.history.pop()
        stage.server.put("c")
        await asyncio.sleep(1)
        stage.server.refusals += [Unreachable("not now")] * 10
        own.note(key, OwnCreate(uid=uid, version=version))
        assert own.is_overtaken(key)
        await asyncio.sleep(70)
        assert own.is_unseen(key)
        await asyncio.sleep(300)

        stage.assert_equal()
        assert not own.is_unseen(key)


async def test_what_was_made_and_is_gone_already_is_let_go_by_a_list() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        own = stage.reflector.store.own
        key, uid, version = stage.server.put("b")
        stage.server.delete("b")
        await asyncio.sleep(1)
        own.note(key, OwnCreate(uid=uid, version=version))
        assert own.is_unseen(key)
        await asyncio.sleep(1)

        assert not own.is_unseen(key)
        assert stage.health.lists == 2


async def test_only_the_oldest_write_that_is_still_unseen_is_looked_for() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        own = stage.reflector.store.own
        for second in range(300):
            key, uid, version = stage.server.put(f"n{second % 3}")
            own.note(key, OwnWrite(uid=uid, version=version))
            await asyncio.sleep(1)
        await asyncio.sleep(100)

        assert not own.keys
        assert stage.health.lists == 1


async def test_a_second_write_of_an_object_hides_no_older_one_of_another() -> None:
    async with staged("a", "b") as stage:
        await stage.reflector.synced()
        stage.server.hang()
        own = stage.reflector.store.own
        for name, wait in (("a", 10), ("b", 30), ("a", 28)):
            key, uid, version = stage.server.put(name, "blue")
            own.note(key, OwnWrite(uid=uid, version=version))
            await asyncio.sleep(wait)
        assert own.oldest == pytest.approx(asyncio.get_running_loop().time() - 58)
        assert stage.health.lists == 1
        await asyncio.sleep(5)

        assert not own.keys
        stage.assert_equal()


async def test_asking_for_a_list_again_and_again_is_asking_once() -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        for _ in range(5):
            stage.reflector.relist()
            await asyncio.sleep(0)
        await asyncio.sleep(1)

        assert stage.metric("growth_cache_lists_total", cause="asked") == 1


async def test_versions_without_order_are_followed_by_the_objects_own_event() -> None:
    own = OwnWrite(uid="u", version="mine")
    metadata = Metadata(name="a", namespace="shop", uid="u", resource_version="mine")

    assert not own.is_seen(None, position="later?")
    assert own.is_seen(Thing(metadata, "red"), position="later?")
    assert not own.is_seen(
        Thing(msgspec.structs.replace(metadata, resource_version="other"), "red"), position="mine?"
    )


@pytest.mark.parametrize("error", [Expired("x"), GiveUp("x"), Misconfigured("x")])
async def test_no_failure_ends_the_cache(error: Exception) -> None:
    async with staged("a") as stage:
        await stage.reflector.synced()
        stage.server.refusals = [error]  # type: ignore[list-item]
        stage.server.cut()
        await asyncio.sleep(30)
        stage.server.put("b")
        await asyncio.sleep(1)

        stage.assert_equal()


async def test_memory_follows_the_objects_not_the_time() -> None:
    async with staged() as stage:
        await stage.reflector.synced()
        for number in range(2000):
            stage.server.put(f"n{number % 10}", f"colour {number}")
            stage.server.history = stage.server.history[-50:]
            await asyncio.sleep(0.01)
        for number in range(10):
            stage.server.delete(f"n{number}")
        await asyncio.sleep(1)

        contents = stage.reflector.store.contents
        assert contents.objects == {}
        assert contents._places == {"colour": {}}


async def test_other_tasks_get_turns_while_the_first_list_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("growth.kube.cache.listing.SLICE", 0.0)
    async with staged(*(f"thing-{number}" for number in range(250))) as stage:
        turns: list[int] = []
        before: list[tuple[int, int]] = []

        def changed(changes: Any) -> None:
            assert not stage.is_complete()
            stage.mirror.take(changes)
            before.append((len(changes), len(turns)))
            asyncio.get_running_loop().call_soon(turns.append, 1)

        stage.reflector._intake._changed = changed
        await stage.reflector.synced()
        assert before == [(100, 0), (100, 1), (50, 2)]
        stage.assert_equal()
