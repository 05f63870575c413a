"""Whatever happens, in whatever order: the cache ends equal to what the API server holds."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import looptime
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from prometheus_client import CollectorRegistry
from typing_extensions import override

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.own_writes import OwnWrite
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.timing import CacheTiming
from growth.kube.errors import Denied, Overloaded, Unreachable
from growth.kube.versions import is_before
from tests.kube.memory import BY_COLOUR, THINGS, MemoryServer, Thing
from tests.kube.mirror import Mirror

NAMES = st.sampled_from("abcdef")
COLOURS = st.sampled_from(["red", "green", "blue", 17])
"""17 is no colour: the object can't be decoded."""
ERRORS = st.sampled_from(
    [Overloaded("500"), Overloaded("429", after=5.0), Unreachable("refused"), Denied("403")]
)


class AnyStory(RuleBasedStateMachine):
    """The API server's content is the model; the cache has to follow it through everything."""

    backups = Bundle("backups")

    def __init__(self) -> None:
        super().__init__()
        self.loop = looptime.new_event_loop()
        self.mirror: Mirror[Thing] = Mirror()
        self.went_back = False
        self.highest = ""
        self.run(self.start())

    def run(self, story: Any) -> Any:
        return self.loop.run_until_complete(story)

    async def start(self) -> None:
        chance = Random(11)
        self.server = MemoryServer(chance)
        self.reflector = Reflector(
            server=self.server,
            resource=THINGS,
            metrics=CacheMetrics(CollectorRegistry()),
            chance=chance,
            changed=self.changed,
            timing=CacheTiming(page_size=2),
        )
        self.task = asyncio.create_task(self.reflector.run())

    def changed(self, changes: Any) -> None:
        self.mirror.take(changes)
        assert self.mirror.objects == dict(self.reflector.store.objects)

    @rule(name=NAMES, colour=COLOURS)
    def put(self, name: str, colour: object) -> None:
        self.run(self._do(lambda: self.server.put(name, colour)))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.run(self._do(lambda: self.server.delete(name)))

    @rule(name=NAMES, colour=COLOURS)
    def replace(self, name: str, colour: object) -> None:
        self.delete(name)
        self.put(name, colour)

    @rule(name=NAMES, colour=COLOURS)
    def write_of_our_own(self, name: str, colour: object) -> None:
        def write() -> None:
            key, uid, version = self.server.put(name, colour)
            self.reflector.store.own.note(key, OwnWrite(uid=uid, version=version))

        self.run(self._do(write))

    @rule(rest=st.sampled_from([b"", b'{"type":"MODIFIED","obj', b"\x00\xff"]))
    def cut(self, rest: bytes) -> None:
        self.run(self._do(lambda: self.server.cut(rest=rest)))

    @rule()
    def end(self) -> None:
        self.run(self._do(self.server.end))

    @rule()
    def hang(self) -> None:
        self.run(self._do(self.server.hang))

    @rule()
    def compact(self) -> None:
        self.run(self._do(self.server.compact))

    @rule(error=ERRORS, times=st.integers(1, 4))
    def refuse(self, error: Any, times: int) -> None:
        self.server.refusals.extend([error] * times)

    @rule(
        line=st.sampled_from(
            [b"no json\n", b'{"type":"ADDED"}\n', b'{"type":"NEWS","object":{}}\n']
        )
    )
    def garble(self, line: bytes) -> None:
        self.run(self._do(lambda: self.server.say(line)))

    @rule(back=st.integers(1, 5))
    def repeat_an_event(self, back: int) -> None:
        past = self.server.history[-back:]
        if past:
            self.run(self._do(lambda: self.server.say(past[0].line)))

    @rule()
    def lose_the_store(self) -> None:
        self.run(self._do(self.server.freeze))

    @rule()
    def find_the_store(self) -> None:
        self.run(self._do(self.server.thaw))

    @rule(target=backups)
    def back_up(self) -> Any:
        return self.server.backup()

    @rule(backup=backups)
    def restore(self, backup: Any) -> None:
        self.went_back = True
        self.run(self._do(lambda: self.server.restore(backup)))

    @rule(streams=st.booleans())
    def exchange_the_server(self, *, streams: bool) -> None:
        self.server.streams_lists = streams
        self.cut(b"")

    @rule()
    def ask_for_a_list(self) -> None:
        self.run(self._do(self.reflector.relist))

    @rule(seconds=st.sampled_from([0.0, 0.01, 1.0, 20.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    @rule()
    def all_is_well_again(self) -> None:
        self.server.refusals.clear()
        self.run(self._do(self.server.thaw))
        self.run(asyncio.sleep(200))
        self.assert_equal()

    @invariant()
    def the_position_never_goes_back_but_for_a_restore(self) -> None:
        position = self.reflector.store.position
        assert self.went_back or not is_before(position, self.highest)
        self.highest = position

    @invariant()
    def the_task_lives(self) -> None:
        if self.task.done():
            self.task.result()

    async def _do(self, something: Any) -> None:
        something()

    def assert_equal(self) -> None:
        store = self.reflector.store
        truth = {
            key: (thing["metadata"]["uid"], thing["metadata"]["resourceVersion"], thing["colour"])
            for key, thing in self.server.things.items()
        }
        held = {
            key: (thing.metadata.uid, thing.metadata.resource_version, thing.colour)
            for key, thing in store.objects.items()
        }
        assert held == {key: it for key, it in truth.items() if isinstance(it[2], str)}
        assert set(store.unreadable) == set(truth) - set(held)
        for colour in ("red", "green", "blue"):
            assert set(store.by(BY_COLOUR, colour)) == {
                key for key, it in held.items() if it[2] == colour
            }
        assert not store.own.keys
        assert self.reflector.health.blind_since is None
        assert self.reflector.health.suspicion is None

    @override
    def teardown(self) -> None:
        self.all_is_well_again()
        self.task.cancel()
        self.run(asyncio.wait([self.task]))
        self.loop.close()


TestAnyStory = AnyStory.TestCase
TestAnyStory.settings = settings(
    max_examples=30, stateful_step_count=40, deadline=None, derandomize=True
)
