"""A rule that fails on one subject: the subject is put aside and counts, and the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler.aside.blaming import blamed
from reconciler.brakes.pauses import PauseCause
from reconciler.core.actions import (
    CrashedStep,
    EmitEvent,
    Sequence,
    SetNode,
    Solve,
    machine,
    pod_subject,
    pool_subject,
    version_of,
)
from reconciler.core.decision import Decision
from reconciler.core.timing import Timing
from reconciler.facts.fleet import fleet
from reconciler.loop import ROOMS, Room, decide, remembers_nothing
from tests.reconciler.build import at, node_class, pool, record, request, waiting, world
from tests.removal.build import node
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from growth.instant import Instant
    from reconciler.core.actions import Subject
    from reconciler.core.world import World
    from reconciler.loop import PassOutcome

POISON = "poison"
PRICE = {"growth.dev/price": "2"}


def touching(objects: Callable[[World], Iterable[Any]]) -> Room[None]:
    """A room that writes to each node, and fails on what bears the poison."""

    def ask(seen: World, _now: Instant) -> Decision[None]:
        for each in objects(seen):
            if POISON in each.metadata.annotations:
                raise OverflowError(each.metadata.annotations[POISON])
        return Decision(section=None, sequences=tuple(_writes(seen)))

    return Room("touching", ask, remembers_nothing)


def _writes(seen: World) -> Iterator[Sequence]:
    for name, each in sorted(seen.cluster.nodes.items()):
        if seen.is_free(machine(name)):
            step = SetNode(node=version_of(each), annotations={"seen": "yes"})
            yield Sequence(subject=machine(name), steps=(step,), why="seen")


def nodes(seen: World) -> Iterable[Any]:
    return seen.cluster.nodes.values()


def standing(*names: str, bad: Iterable[str] = ()) -> list[Any]:
    return [
        node(name, annotations=PRICE | ({POISON: "s3cret"} if name in bad else {}))
        for name in names
    ]


def town(*objects: Any) -> World:
    return world(pool(), node_class(), *objects, timing=Timing(stable_interval=0.0))


def asked(seen: World, *rooms: Room[Any]) -> PassOutcome:
    return decide(seen, at(100), rooms)


def aside(outcome: PassOutcome) -> set[Subject]:
    return set(outcome.ledger.aside.subjects)


def writes(outcome: PassOutcome) -> list[str]:
    return [
        each.subject.name
        for each in outcome.sequences
        if any(isinstance(step, SetNode) for step in each.steps)
    ]


def test_the_others_get_what_they_get_without_it() -> None:
    names = [f"default-{n}" for n in range(9)]
    outcome = asked(town(*standing(*names, bad=("default-4",))), touching(nodes))
    without = asked(town(*standing(*(n for n in names if n != "default-4"))), touching(nodes))
    assert aside(outcome) == {machine("default-4")}
    assert writes(outcome) == writes(without)


def test_several_are_found_one_after_another() -> None:
    names = [f"default-{n}" for n in range(40)]
    bad = ("default-0", "default-17", "default-39")
    outcome = asked(town(*standing(*names, bad=bad)), touching(nodes))
    assert aside(outcome) == {machine(name) for name in bad}
    assert len(writes(outcome)) == 37


def test_an_event_says_what_happened_and_how_to_mend_it_and_no_value() -> None:
    given = town(*standing("default-1", bad=("default-1",)))
    first = asked(given, touching(nodes))
    again = asked(given.remembering(first.ledger), touching(nodes))
    (sequence,) = first.sequences
    (step,) = sequence.steps
    assert isinstance(step, EmitEvent)
    assert step.event.reason == "PutAside"
    assert "OverflowError in" in step.event.note
    assert "s3cret" not in step.event.note
    assert again.sequences == ()


def test_it_is_tried_again_after_a_change_and_not_before() -> None:
    tries: list[int] = []

    def counting(seen: World) -> Iterable[Any]:
        tries.append(1)
        return nodes(seen)

    given = town(*standing("default-1", "default-2", bad=("default-1",)))
    outcome = asked(given, touching(counting))
    tries.clear()
    asked(given.remembering(outcome.ledger), touching(counting))
    assert len(tries) == 1
    (bad, good) = standing("default-1", "default-2")
    metadata = msgspec.structs.replace(bad.metadata, resource_version="later")
    mended = town(msgspec.structs.replace(bad, metadata=metadata), good)
    after = asked(mended.remembering(outcome.ledger), touching(nodes))
    assert not aside(after)
    assert writes(after) == ["default-1", "default-2"]


def test_a_request_that_is_put_aside_counts_and_its_pod_buys_nothing_more() -> None:
    pod = waiting()
    bad = request("default-1", pods=(pod,))
    bad = bad.model_copy(
        update={"metadata": bad.metadata.model_copy(update={"annotations": {POISON: "1"}})}
    )
    rooms = (touching(lambda seen: seen.requests.values()), *ROOMS)
    given = town(pod, bad)
    outcome = decide(given, at(99), rooms)
    for second in range(100, 104):
        outcome = decide(given, at(second), rooms)
        given = given.remembering(outcome.ledger)
        steps = [step for each in outcome.sequences for step in each.steps]
        assert not any(isinstance(step, Solve) for step in steps)
        assert machine("default-1") not in {
            each.subject for each in outcome.sequences if not _is_event(each)
        }
    assert aside(outcome) == {machine("default-1")}
    assert "default-1" in fleet(given, given.requests.values()).machines


def _is_event(sequence: Sequence) -> bool:
    return all(isinstance(step, EmitEvent) for step in sequence.steps)


def test_a_node_that_is_put_aside_keeps_its_price_and_its_place_in_the_pool() -> None:
    given = town(*standing("default-1", bad=("default-1",)))
    seen: list[World] = []

    def looking(each: World, _now: Instant) -> Decision[None]:
        seen.append(each)
        return Decision(section=None)

    asked(given, touching(nodes), Room("looking", looking, remembers_nothing))
    counted = fleet(seen[-1], ()).machines["default-1"]
    assert (counted.pool, counted.price) == ("default", 2_000_000)


def test_a_pool_that_is_put_aside_is_paused_and_its_machines_are_left_alone() -> None:
    bad = pool()
    metadata = bad.metadata.model_copy(update={"annotations": {POISON: "1"}})
    given = world(
        bad.model_copy(update={"metadata": metadata}),
        node_class(),
        *standing("default-1"),
        timing=Timing(stable_interval=0.0),
    )
    outcome = asked(given, touching(lambda seen: seen.pools.values()), touching(nodes))
    assert aside(outcome) == {pool_subject("default")}
    assert outcome.ledger.brakes.pauses["default"].cause is PauseCause.PUT_ASIDE
    assert writes(outcome) == []


def test_a_pod_on_a_node_keeps_its_node_while_it_is_put_aside() -> None:
    pod = build.pod("web-0", on="default-1", metadata={"annotations": {POISON: "1"}})
    given = town(*standing("default-1"), pod)

    def pods(seen: World) -> Iterable[Any]:
        return [each for held in seen.cluster.occupancies.values() for each in held.pods]

    kept: list[bool] = []

    def looking(each: World, _now: Instant) -> Decision[None]:
        kept.append(bool(each.cluster.occupancy("default-1").keepers))
        return Decision(section=None)

    outcome = asked(given, touching(pods), Room("looking", looking, remembers_nothing))
    assert aside(outcome) == {pod_subject(pod)}
    assert kept[-1]


def test_a_rule_that_fails_whatever_is_put_aside_is_left_out_and_the_others_go_on() -> None:
    def fails(_seen: World, _now: Instant) -> Decision[None]:
        raise KeyError("a mistake of ours")

    given = town(*standing("default-1"))
    outcome = asked(given, Room("broken", fails, remembers_nothing), touching(nodes))
    assert list(outcome.ledger.aside.failing) == ["broken"]
    assert writes(outcome) == ["default-1"]
    assert outcome.wake_at <= 110.0
    assert not aside(outcome)


def test_a_judge_that_fails_lets_nothing_pass() -> None:
    def judge(*_given: object) -> Any:
        raise KeyError("a mistake of ours")

    outcome = decide(town(*standing("default-1")), at(100), (touching(nodes),), judge=judge)
    assert outcome.sequences == ()
    assert list(outcome.ledger.aside.failing) == ["invariants"]


def test_a_breach_about_one_subject_puts_that_aside_and_does_not_stop_the_others() -> None:
    def frees(seen: World, _now: Instant) -> Decision[None]:
        held, free = (seen.cluster.nodes[name] for name in ("default-1", "default-2"))
        return Decision(
            section=None,
            sequences=tuple(
                Sequence(
                    subject=machine(each.name),
                    steps=(SetNode(node=version_of(each), unschedulable=False),),
                    why="free",
                )
                for each in (held, free)
            ),
        )

    cordoned = node("default-1", annotations=PRICE, unschedulable=True)
    outcome = asked(town(cordoned, *standing("default-2")), Room("frees", frees, remembers_nothing))
    assert outcome.breach is None
    assert writes(outcome) == ["default-2"]
    assert aside(outcome) == {machine("default-1")}


@pytest.mark.parametrize("number", [1, 2, 3, 8, 9])
def test_whom_to_blame_is_found_by_halves(number: int) -> None:
    everybody = [machine(f"default-{n:03}") for n in range(1000)]
    guilty = frozenset(everybody[7 :: 1000 // number][:number])
    asked_about = 0

    def fails(put_aside: frozenset[Subject]) -> bool:
        nonlocal asked_about
        asked_about += 1
        return not guilty <= put_aside

    found = blamed(fails, suspects=(), candidates=everybody)
    assert found == (guilty if number <= 8 else frozenset())
    assert asked_about <= 2 + 12 * (number + 1)


def crashed(seen: World, name: str, *, until: float) -> World:
    crash = CrashedStep(why="KeyError in somewhere:1 (effects)", again_at=until)
    return msgspec.structs.replace(seen, crashes={machine(name): crash})


def after(seen: World, outcome: PassOutcome, moment: float) -> PassOutcome:
    return decide(seen.remembering(outcome.ledger), at(moment), (touching(nodes),))


def test_a_subject_on_which_a_step_has_crashed_is_left_alone_until_its_wait_is_over() -> None:
    given = crashed(town(*standing("default-1", "default-2")), "default-1", until=at(130).monotonic)
    first = asked(given, touching(nodes))
    assert writes(first) == ["default-2"]
    assert aside(first) == {machine("default-1")}
    assert first.wake_at == at(130).monotonic
    before = after(given, first, 129)
    assert writes(before) == ["default-2"]
    due = after(given, before, 130)
    assert writes(due) == ["default-1", "default-2"]
    assert not aside(due)


def test_a_subject_on_which_a_step_has_crashed_is_tried_after_a_change_and_once() -> None:
    (one,) = standing("default-1")
    given = crashed(town(one), "default-1", until=at(600).monotonic)
    first = asked(given, touching(nodes))
    metadata = msgspec.structs.replace(one.metadata, resource_version="later")
    changed = msgspec.structs.replace(one, metadata=metadata)
    mended = crashed(town(changed), "default-1", until=at(600).monotonic)
    tried = after(mended, first, 101)
    assert writes(tried) == ["default-1"]
    # It crashed once more.
    again = crashed(town(changed), "default-1", until=at(700).monotonic)
    assert aside(after(again, tried, 102)) == {machine("default-1")}


def test_what_growth_itself_wrote_before_a_crash_is_no_change() -> None:
    (one,) = standing("default-1")
    given = crashed(town(one), "default-1", until=at(600).monotonic)
    unseen = msgspec.structs.replace(given, busy=frozenset({machine("default-1")}))
    first = asked(unseen, touching(nodes))
    metadata = msgspec.structs.replace(one.metadata, resource_version="own")
    written = msgspec.structs.replace(one, metadata=metadata)
    second = after(crashed(town(written), "default-1", until=at(600).monotonic), first, 101)
    assert aside(second) == {machine("default-1")}


def test_an_event_says_that_growth_tries_again_by_itself() -> None:
    given = crashed(town(*standing("default-1")), "default-1", until=at(130).monotonic)
    (sequence,) = asked(given, touching(nodes)).sequences
    (step,) = sequence.steps
    assert isinstance(step, EmitEvent)
    assert "KeyError in somewhere:1" in step.event.note
    assert "by itself" in step.event.note


def test_a_record_that_is_put_aside_says_what_the_machine_is_and_no_more() -> None:
    told = record("default-1", template="[" * 5000, replaces="[" * 5000, plan="{")
    metadata = told.metadata.model_copy(update={"annotations": {POISON: "1"}})
    seen: list[World] = []

    def looking(each: World, _now: Instant) -> Decision[None]:
        seen.append(each)
        return Decision(section=None)

    given = town(*standing("default-1"), told.model_copy(update={"metadata": metadata}))
    outcome = asked(
        given,
        touching(lambda each: each.records.values()),
        Room("looking", looking, remembers_nothing),
    )
    assert aside(outcome) == {machine("default-1")}
    (stand_in,) = seen[-1].records.values()
    assert stand_in.spec == record("default-1").spec
    assert stand_in.metadata.annotations == {}


def test_a_record_without_a_node_can_be_blamed() -> None:
    told = record("default-9")

    def fails(seen: World, _now: Instant) -> Decision[None]:
        if any(each.spec.plan == POISON for each in seen.records.values()):
            raise OverflowError
        return Decision(section=None)

    bad = told.model_copy(update={"spec": told.spec.model_copy(update={"plan": POISON})})
    outcome = asked(town(bad), Room("fails", fails, remembers_nothing))
    assert aside(outcome) == {machine("default-9")}
    assert not outcome.ledger.aside.failing
