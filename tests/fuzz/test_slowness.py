"""No input makes a decoder or a rule take more than 50 ms longer than its neighbour does.

A slow input is a freeze: the process that reads it does nothing else meanwhile.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extender.outline import decode_outline
from extender.protocol import Malformed, read_arguments
from growth.demand.wire import Rubbish, read_line
from growth.errors import Misconfigured
from growth.foreign_text import parse_count, parse_money, parse_seconds, parse_time
from growth.kube.cache.resource import WatchedResource
from growth.kube.cache.watch_events import Garbled, read_object
from growth.kube.election.lease import lease_from
from growth.scheduling.resources import parse_one
from growth.undecodable import UNDECODABLE
from reconciler.loop import BRAKES, ROOMS, Room, decide
from reconciler.providers.kwok.catalogue import types_of
from tests.fuzz.measuring import Sides, Slowest, seconds_of, slow_parts
from tests.fuzz.poison import CATASTROPHIC, TEXTS, known_keys
from tests.fuzz.test_deciding import MOMENTS, bearing, written
from tests.fuzz.test_decoders import DECODERS, SOUND, documents_of
from tests.fuzz.town import Poisoned, document_of, seen, town
from tests.reconciler.build import at
from webhooks.review import NotAReview
from webhooks.review import decode as decode_review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from growth.instant import Instant
    from reconciler.core.world import World

SHORT, LONG = 6, 20_000
REFUSED = (*UNDECODABLE, ValueError, Misconfigured, Malformed, NotAReview, Garbled, Rubbish)


class Measurement:
    """Which parts take how long."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def of(self, name: str, work: Callable[[], object]) -> None:
        """What refuses an input has taken its time, too."""

        def tried() -> None:
            try:
                work()
            except REFUSED:
                return

        self.seconds[name] = self.seconds.get(name, 0.0) + seconds_of(tried)


def timed(room: Room[Any], found: Measurement) -> Room[Any]:
    """The same room, whose rule is measured."""

    def measured(world: World, now: Instant) -> Any:
        decision: list[Any] = []
        found.of(room.name, lambda: decision.append(room.decide(world, now)))
        return decision[0]

    return Room(room.name, measured, room.store)


def rules_measured(given_world: World) -> Mapping[str, float]:
    """Each rule in several passes, and the passes as a whole."""
    found = Measurement()
    rooms = [timed(each, found) for each in (BRAKES, *ROOMS)]
    # The whole includes what isn't a room: putting aside, and the invariants.
    for moment in MOMENTS:
        now = at(moment)

        def one(now: Instant = now) -> None:
            nonlocal given_world
            outcome = decide(given_world, now, rooms[1:])
            given_world = given_world.remembering(outcome.ledger)

        found.of("pass", one)
    return found.seconds


def told_to_people(what: object) -> None:
    """In the output of `pytest -s`, or of a test that fails."""
    sys.stdout.write(f"{what}\n")


def told(slow: Mapping[str, Sides], what: str) -> str:
    return f"{what[:200]!r}: " + "; ".join(f"{name} took {sides}" for name, sides in slow.items())


def of_rules(poisoned: Poisoned, slowest: Slowest) -> None:
    """An object in its town, beside the same object as it was."""
    objects = town()
    usual = Poisoned(poisoned.name, document_of(objects[poisoned.name]))

    def measured(which: Poisoned) -> Mapping[str, float]:
        found = Measurement()
        worlds: list[World] = []
        found.of("reading", lambda: worlds.append(seen(town(), which)))
        return {**found.seconds, **(rules_measured(worlds[0]) if worlds else {})}

    what = json.dumps(poisoned.document)
    slowest.note(measured(poisoned), measured(usual), what)
    slow = slow_parts(lambda: measured(poisoned), lambda: measured(usual))
    assert not slow, told(slow, f"{poisoned.name} {what}")


def of_decoders(kind: str, document: Any, slowest: Slowest) -> None:
    """A document, beside a sound one of its kind."""
    sound = {"metadata": {"name": "default-1"}, **SOUND.get(kind, {})}

    def measured(which: Any) -> Mapping[str, float]:
        raw = json.dumps(which).encode(errors="surrogatepass")
        resource: WatchedResource[Any] = WatchedResource(path="/x", decode=DECODERS[kind][1])
        found = Measurement()
        found.of(kind, lambda: read_object(raw, resource=resource))
        for name, decode in OF_BYTES.items():
            found.of(name, partial(decode, raw))
        return found.seconds

    what = json.dumps(document)
    slowest.note(measured(document), measured(sound), f"{kind} {what}")
    slow = slow_parts(lambda: measured(document), lambda: measured(sound))
    assert not slow, told(slow, what)


OF_BYTES: dict[str, Callable[[bytes], object]] = {
    "the extender's pods": decode_outline,
    "the scheduler's calls": read_arguments,
    "reviews": decode_review,
    "the stream of demand": read_line,
    "a Lease": lease_from,
}
"""Decoders of what isn't watched."""
OF_TEXTS: dict[str, Callable[[str], object]] = {
    "money": parse_money,
    "a count": parse_count,
    "seconds": parse_seconds,
    "a time": parse_time,
    "cpu": lambda text: parse_one("cpu", text),
    "memory": lambda text: parse_one("memory", text),
    "a catalogue": lambda text: types_of(text, place="ConfigMap a/b"),
}
"""Readers of one text."""


@pytest.mark.parametrize("name", OF_TEXTS)
def test_no_text_is_slow_to_read(name: str) -> None:
    def measured(text: str) -> Mapping[str, float]:
        found = Measurement()
        found.of(name, lambda: OF_TEXTS[name](text))
        return found.seconds

    for text in (*TEXTS, *CATASTROPHIC):
        slow = slow_parts(partial(measured, text), partial(measured, "1"))
        assert not slow, told(slow, text)


class Crowd(NamedTuple):
    """A field in which somebody writes many entries."""

    name: str
    path: tuple[str, ...]
    entry: Callable[[int], Any]
    is_map: bool = False


CROWDS = (
    Crowd("Node default-used", ("metadata", "labels"), lambda n: f"{n}", is_map=True),
    Crowd("Node default-idle", ("metadata", "annotations"), lambda n: "x" * 50, is_map=True),
    Crowd(
        "Node default-used", ("spec", "taints"), lambda n: {"key": f"a{n}", "effect": "NoSchedule"}
    ),
    Crowd("Pod web-0", ("metadata", "labels"), lambda n: f"{n}", is_map=True),
    Crowd("Pod web-0", ("spec", "tolerations"), lambda n: {"key": f"a{n}", "operator": "Exists"}),
    Crowd(
        "Pod web-0",
        ("spec", "containers"),
        lambda n: {"name": f"c{n}", "resources": {"requests": {"cpu": "1m"}}},
    ),
    Crowd("Pod web-2", ("spec", "tolerations"), lambda n: {"key": f"a{n}", "operator": "Exists"}),
    Crowd(
        "Pod web-0",
        ("metadata", "ownerReferences"),
        lambda n: {"kind": "ReplicaSet", "name": f"w{n}", "uid": f"u{n}"},
    ),
    Crowd(
        "Pod web-0",
        ("spec", "topologySpreadConstraints"),
        lambda n: {"maxSkew": 1, "topologyKey": f"k{n}", "whenUnsatisfiable": "DoNotSchedule"},
    ),
)


def crowded(crowd: Crowd, size: int) -> Poisoned:
    document = document_of(town()[crowd.name])
    *above, last = crowd.path
    held = document
    for step in above:
        held = held[step]
    if crowd.is_map:
        held[last] = {**held.get(last, {}), **{f"k{n}": crowd.entry(n) for n in range(size)}}
    else:
        held[last] = [*(held.get(last) or []), *(crowd.entry(n) for n in range(size))]
    return Poisoned(crowd.name, document)


@pytest.mark.parametrize("crowd", CROWDS, ids=lambda each: f"{each.name} {each.path[-1]}")
def test_twice_as_many_entries_take_no_more_than_twice_as_long(crowd: Crowd) -> None:
    """As a ratio of two times that are measured together, and grossly: a square would be four."""

    def measured(size: int) -> float:
        def once() -> float:
            world = seen(town(), crowded(crowd, size))
            return seconds_of(lambda: rules_measured(world))

        return min(once() for _ in range(2))

    few = many = 0.0
    for _ in range(3):
        few, many = measured(500), measured(2000)
        told_to_people(
            f"{crowd.path[-1]}: 500 take {1000 * few:.1f} ms, 2,000 {1000 * many:.1f} ms"
        )
        if many < 8 * few + 0.02:
            return
    pytest.fail(f"500 entries take {few:.3f} s, 2,000 {many:.3f} s, each time")


def bearing_each(names: Iterable[str]) -> None:
    """Each text that is made to be slow, under all keys of these objects."""
    slowest = Slowest()
    for text in CATASTROPHIC:
        for name in names:
            of_rules(bearing(name, dict.fromkeys(known_keys(), text)), slowest)
    told_to_people(slowest)


def test_no_text_that_is_made_to_be_slow_slows_a_rule() -> None:
    bearing_each(["Node default-used"])


@pytest.mark.long
def test_no_text_that_is_made_to_be_slow_slows_a_rule_wherever_it_stands() -> None:
    bearing_each(town())


@settings(max_examples=SHORT, suppress_health_check=list(HealthCheck), deadline=None)
@given(written())
def test_no_object_slows_a_rule(poisoned: Poisoned) -> None:
    of_rules(poisoned, Slowest())


@settings(max_examples=SHORT, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_no_document_slows_a_decoder(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(DECODERS)))
    of_decoders(kind, data.draw(documents_of(kind)), Slowest())


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nothing_slows_a_rule_in_the_long_run() -> None:
    slowest = Slowest()

    @settings(max_examples=LONG, suppress_health_check=list(HealthCheck), deadline=None)
    @given(written())
    def tried(poisoned: Poisoned) -> None:
        of_rules(poisoned, slowest)

    tried()
    told_to_people(slowest)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", DECODERS)
def test_nothing_slows_a_decoder_in_the_long_run(kind: str) -> None:
    slowest = Slowest()

    @settings(max_examples=LONG // 10, suppress_health_check=list(HealthCheck), deadline=None)
    @given(documents_of(kind))
    def tried(document: Any) -> None:
        of_decoders(kind, document, slowest)

    tried()
    told_to_people(slowest)


def test_an_input_that_is_slow_each_time_is_found_and_a_disturbance_is_not() -> None:
    slow, once = {"a": 0.2, "b": 0.01}, iter([{"a": 0.2}, {"a": 0.01}])
    usual = {"a": 0.01, "b": 0.01}
    assert slow_parts(lambda: slow, lambda: usual).keys() == {"a"}
    assert not slow_parts(lambda: next(once), lambda: usual)
