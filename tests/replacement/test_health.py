"""Which nodes are sick for so long that another one takes their place, and when none is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from growth.scheduling.metadata import ObservedCondition
from reconciler.brakes.trust import Trust
from reconciler.core.decision import NEVER
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.ledger import Ledger
from reconciler.pools import many_sick
from reconciler.providers.port import MachineState
from reconciler.replacement.health import HealthCount, SickNodes, sick
from reconciler.replacement.ledger import ReplacementLedger
from tests.reconciler.build import RELEASED, at, pool, request, said_by
from tests.removal.build import CLOUD, machine, node, world

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.world import World

LONG = 600.0
COMING = {"key": "growth.dev/unregistered", "value": "", "effect": "NoSchedule"}
FIVE = tuple(f"default-{number}" for number in range(5))
TEN = tuple(f"default-{number}" for number in range(10))


def ill(name: str, /, status: str = "Unknown", *, since: str = "", **fields: Any) -> Node:
    """A node that isn't Ready."""
    made = node(name, ready=False, **fields)
    message = "runtime is down" if status == "False" else ""
    ready = ObservedCondition("Ready", status, message=message, last_transition_time=since)
    return msgspec.structs.replace(
        made, status=msgspec.structs.replace(made.status, conditions=(ready,))
    )


def well(name: str, /, **fields: Any) -> Node:
    return node(name, **fields)


def of(names: tuple[str, ...], /, *sick_ones: Node, **changes: Any) -> World:
    """Nodes with listed machines, of which these are sick."""
    others = {each.name for each in sick_ones}
    healthy = [well(name) for name in names if name not in others]
    shown = tuple(machine(name) for name in names)
    return world(*healthy, *sick_ones, shown=shown, **changes)


def blind(given: World) -> World:
    brakes = replace(given.ledger.brakes, may_remove=False)
    return given.remembering(replace(given.ledger, brakes=brakes))


class Watch:
    """Looks at worlds, one after the other, and remembers as the loop does."""

    def __init__(self) -> None:
        self.health = SickNodes()
        self.wake_at = NEVER
        self._removal = Ledger().removal

    def sees(self, given: World, seconds: float) -> list[str]:
        given = given.remembering(replace(given.ledger, removal=self._removal))
        self._removal = given.ledger.removal.at(sighted_clock(given, at(seconds)))
        given = given.remembering(replace(given.ledger, removal=self._removal))
        self.health, found, self.wake_at = sick(given, at(seconds), self.health)
        self.why = found
        return sorted(found)


def found(given: World, *, after: float = LONG) -> list[str]:
    """What is sick of a world that has stayed the same for so long."""
    watch = Watch()
    watch.sees(given, 100.0)
    return watch.sees(given, 100.0 + after)


# How long


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_is_not_ready_for_long_is_sick(status: str) -> None:
    given = of(FIVE, ill("default-1", status))
    assert found(given) == ["default-1"]
    assert found(given, after=LONG - 1) == []


def test_a_node_without_any_word_is_sick_too() -> None:
    assert found(of(FIVE, node("default-1", ready=False))) == ["default-1"]


def test_people_are_told_what_it_lacks() -> None:
    watch = Watch()
    given = of(TEN, ill("default-1", "False"), ill("default-2", "Unknown"))
    watch.sees(given, 0)
    watch.sees(given, LONG)
    assert watch.why == {
        "default-1": "it has not been Ready for more than 600 s: runtime is down",
        "default-2": "its kubelet has been silent for more than 600 s",
    }


def test_it_is_looked_at_again_when_the_first_time_is_over() -> None:
    watch = Watch()
    watch.sees(of(TEN, ill("default-1")), 100)
    watch.sees(of(TEN, ill("default-1"), ill("default-2")), 150)
    assert watch.wake_at == pytest.approx(100 + LONG)
    watch.sees(of(TEN, ill("default-1"), ill("default-2")), 100 + LONG)
    assert watch.wake_at == pytest.approx(150 + LONG)


def test_a_node_that_was_ready_in_between_begins_anew() -> None:
    watch = Watch()
    watch.sees(of(FIVE, ill("default-1")), 0)
    watch.sees(of(FIVE), 300)
    watch.sees(of(FIVE, ill("default-1")), 301)
    assert watch.sees(of(FIVE, ill("default-1")), LONG) == []
    assert watch.sees(of(FIVE, ill("default-1")), 301 + LONG) == ["default-1"]


def test_a_node_that_was_ready_between_two_looks_begins_anew() -> None:
    watch = Watch()
    watch.sees(of(FIVE, ill("default-1", since="2026-01-01T00:00:00Z")), 0)
    assert watch.sees(of(FIVE, ill("default-1", since="2026-01-01T00:09:00Z")), LONG) == []


def test_an_hour_in_which_nothing_was_seen_makes_no_node_sick() -> None:
    watch, given = Watch(), of(FIVE, ill("default-1"))
    watch.sees(given, 0)
    watch.sees(given, 60)
    watch.sees(blind(given), 61)
    watch.sees(blind(given), 3600)
    assert watch.sees(given, 3601) == []
    assert watch.sees(given, 3601 + LONG - 61) == []
    assert watch.sees(given, 3601 + LONG - 60) == ["default-1"]


def test_nothing_is_sick_while_we_are_blind() -> None:
    watch, given = Watch(), of(FIVE, ill("default-1"))
    watch.sees(given, 0)
    assert watch.sees(blind(given), LONG) == []
    assert watch.wake_at == NEVER


def test_after_a_restart_the_time_begins_anew() -> None:
    given = of(FIVE, ill("default-1", since="2025-12-31T00:00:00Z"))
    assert Watch().sees(given, LONG) == []


# Who


def doubted(given: World) -> World:
    trust = Trust(judged=90.0, suspected_at=90.0, doubt="a listing shows 0 of the 4 machines")
    brakes = replace(RELEASED, clouds={CLOUD: trust})
    return given.remembering(replace(given.ledger, brakes=brakes))


def unlisted(name: str) -> World:
    shown = tuple(machine(each) for each in FIVE if each != name)
    return world(*(well(each) for each in FIVE if each != name), ill(name), shown=shown)


def ending(name: str) -> World:
    state = {name: MachineState.DELETING}
    shown = tuple(machine(each, state=state.get(each, MachineState.RUNNING)) for each in FIVE)
    return world(*(well(each) for each in FIVE if each != name), ill(name), shown=shown)


ONE = "default-1"
LEFT: dict[str, World] = {
    "it has never served": of(FIVE, ill(ONE, taints=[COMING])),
    "its request waits for it": of(FIVE, ill(ONE), requests={ONE: request(ONE)}),
    "its cloud doesn't show its machine": unlisted(ONE),
    "its machine is going": ending(ONE),
    "its cloud isn't believed": doubted(of(FIVE, ill(ONE))),
    "it is of no pool": of(FIVE, ill(ONE), pools={}),
    "it is ready": of(FIVE),
}


@pytest.mark.parametrize("given", LEFT.values(), ids=LEFT.keys())
def test_a_node_is_not_sick_while(given: World) -> None:
    assert found(given) == []


# Too many


@pytest.mark.parametrize(
    ("ones", "nodes", "is_held"),
    [(1, 1, 0), (1, 3, 0), (2, 3, 1), (1, 5, 0), (2, 5, 1), (2, 10, 0), (3, 10, 1), (3, 11, 0)],
)
def test_more_than_a_fifth_of_a_pool_is_too_many(ones: int, nodes: int, is_held: int) -> None:
    names = tuple(f"default-{number:02}" for number in range(nodes))
    given = of(names, *(ill(name) for name in names[:ones]))
    assert len(found(given)) == (0 if is_held else ones)


def others(count: int) -> list[Node]:
    made = (node(f"other-{number}") for number in range(count))
    return [
        msgspec.structs.replace(
            each,
            metadata=msgspec.structs.replace(
                each.metadata, labels={**each.labels, "growth.dev/pool": "other"}
            ),
        )
        for each in made
    ]


def test_another_pool_is_repaired_while_too_many_of_one_are_sick() -> None:
    healthy = others(30)
    one = msgspec.structs.replace(ill("other-0"), metadata=healthy[0].metadata)
    names = (*FIVE, *(each.name for each in healthy))
    shown = tuple(machine(name) for name in names)
    sick_ones = [ill(name) for name in FIVE[:3]]
    nodes = [*healthy[1:], one, *sick_ones, *(well(name) for name in FIVE[3:])]
    given = world(*nodes, pool(), pool("other"), shown=shown)
    assert found(given) == ["other-0"]


def test_no_pool_is_repaired_while_too_many_of_all_are_sick() -> None:
    """Each pool has one sick node, which for a small pool alone is nothing."""
    nodes, pools = [], []
    for number in range(6):
        name = f"pool{number}"
        made = ill(f"{name}-0")
        metadata = msgspec.structs.replace(
            made.metadata, labels={**made.labels, "growth.dev/pool": name}
        )
        nodes.append(msgspec.structs.replace(made, metadata=metadata))
        pools.append(pool(name))
    shown = tuple(machine(each.name) for each in nodes)
    assert found(world(*nodes, *pools, shown=shown)) == []


def test_nodes_that_fall_silent_one_by_one_are_counted_from_their_first_moment() -> None:
    watch = Watch()
    watch.sees(of(FIVE, ill("default-0")), 0)
    assert watch.sees(of(FIVE, ill("default-0"), ill("default-1")), LONG) == []


def test_the_last_node_to_come_back_after_a_common_fault_was_not_sick_for_that() -> None:
    watch = Watch()
    watch.sees(of(TEN, *(ill(name) for name in TEN[:6])), 0)
    watch.sees(of(TEN, *(ill(name) for name in TEN[:6])), 3600)
    one = of(TEN, ill(TEN[0]))
    assert watch.sees(one, 3601) == []
    assert watch.sees(one, 3600 + LONG - 1) == []
    assert watch.sees(one, 3600 + LONG) == [TEN[0]]


def test_sick_nodes_of_others_hold_nothing() -> None:
    foreign = [
        msgspec.structs.replace(
            ill(f"theirs-{number}"), metadata=msgspec.structs.replace(node().metadata, labels={})
        )
        for number in range(9)
    ]
    shown = tuple(machine(name) for name in FIVE)
    given = world(*foreign, ill("default-0"), *(well(name) for name in FIVE[1:]), shown=shown)
    assert found(given) == ["default-0"]


def test_machines_that_are_booting_hold_nothing_and_make_no_pool_look_larger() -> None:
    booting = [ill(f"new-{number}", taints=[COMING]) for number in range(20)]
    names = FIVE[:4]
    assert found(of(names, ill("default-0"), *booting)) == ["default-0"]
    assert found(of(names, ill("default-0"), ill("default-1"), *booting)) == []


@examples(
    history=st.lists(
        st.tuples(st.frozensets(st.sampled_from(TEN)), st.floats(1, 1200), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_of_a_fault_that_is_everybodys_nothing_is_ever_repaired(history: Any) -> None:
    """Whatever happens: what is repaired was seen sick for long, and with few others."""
    watch, moment = Watch(), 0.0
    seen = dict.fromkeys(TEN, 0.0)
    last: tuple[frozenset[str], float] = frozenset(), 0.0
    for names, wait, sees in history:
        given = of(TEN, *(ill(name) for name in sorted(names)))
        repaired = watch.sees(given if sees else blind(given), moment)
        for name in TEN:
            lasts = moment - last[1] if sees and name in last[0] else 0.0
            seen[name] = seen[name] + lasts if name in names else 0.0
        last = (names if sees else frozenset(), moment)
        moment += wait
        assert sees or not repaired
        assert len(names) <= 2 or not repaired
        assert all(seen[name] >= LONG - 1e-6 for name in repaired)


# What pools say


def said(given: World, health: SickNodes) -> tuple[str, str, str] | None:
    known = given.remembering(replace(given.ledger, replacement=ReplacementLedger(health=health)))
    return said_by(many_sick, known, at(100))


HELD = SickNodes(held={"default": HealthCount(sick=3, nodes=10)})


def test_a_pool_says_how_many_of_its_nodes_are_sick() -> None:
    status, reason, message = said(of(FIVE), HELD) or ("", "", "")
    assert (status, reason) == ("True", "TooManySick")
    assert message.startswith("3 of 10 nodes are not Ready at the same time")


def test_a_pool_says_when_it_is_over_and_nothing_if_it_never_was() -> None:
    told = {
        "type": "ManySick",
        "status": "True",
        "reason": "TooManySick",
        "message": "x",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    status = type(pool().status).model_validate({"conditions": [told]})
    telling = pool().model_copy(update={"status": status})
    assert said(of(FIVE), SickNodes()) is None
    assert said(world(telling), HELD) is None
    assert (said(world(telling), SickNodes()) or ("", "", ""))[:2] == ("False", "Released")
