"""What must never be done is found before it is begun, and what may be done is left alone."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.wellknown import PRICE_ANNOTATION
from reconciler.brakes.trust import Trust
from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    Evict,
    OpenRemoval,
    Sequence,
    SetNode,
    Subject,
    SubjectKind,
    Version,
    machine,
)
from reconciler.core.caps import Caps
from reconciler.core.decision import Decision
from reconciler.facts.requested import HOUR
from reconciler.invariants.breach import Invariant
from reconciler.invariants.judging import judged
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.ledger import Ledger
from reconciler.loop import Room, decide, remembers_nothing
from reconciler.providers.port import ClassKey, MachineState, Order, Sight
from tests.reconciler.build import RELEASED, at, pool, record, request, world
from tests.removal import build as leaving
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.providers.port import Machine

NOW = at(100)
NAME = leaving.NAME


def doing(*steps: Action, name: str = NAME) -> Sequence:
    return Sequence(subject=machine(name), steps=steps, why="test")


def buying(name: str, /, **spec: Any) -> Sequence:
    return doing(CreateNodeRequest(request=request(name, **spec)), name=name)


def found(seen: World, *sequences: Sequence) -> Invariant | None:
    judgement = judged(sequences, seen, NOW)
    breach = judgement.breach or next(iter(judgement.aside.values()), None)
    return None if breach is None else breach.invariant


def node(name: str = NAME, /, *, cordoned: bool = False) -> Node:
    price = {PRICE_ANNOTATION: "1"}
    return leaving.node(name, annotations=price, unschedulable=cordoned)


def on(name: str = NAME) -> Any:
    return build.pod("web-0", nodeName=name)


def version(name: str = NAME) -> Version:
    return Version(name=name, uid=f"uid-{name}", resource_version="1")


def limited(**limits: Any) -> Any:
    return pool(serverTypes=[{"name": "small", "max": 3}], limits=limits)


def having(*objects: Any, caps: Caps | None = None, unseen: tuple[str, ...] = ()) -> World:
    """A pool of at most 3 small machines, one of which is a node and one is on its way."""
    memory = InvariantsLedger(unseen={name: request(name) for name in unseen})
    ledger = Ledger(brakes=RELEASED, invariants=memory)
    known = objects or (limited(),)
    busy = frozenset(machine(name) for name in unseen)
    return world(
        *known, node(), request("default-2"), caps=caps or Caps(), ledger=ledger, busy=busy
    )


@pytest.mark.parametrize(
    ("seen", "names", "expected"),
    [
        (having(), ("default-a",), None),
        (having(), ("default-a", "default-b"), Invariant.MAXIMUM_KEPT),
        (having(unseen=("default-c",)), ("default-a",), Invariant.MAXIMUM_KEPT),
        (having(limited(nodes=3)), ("default-a",), None),
        (having(limited(nodes=2)), ("default-a",), Invariant.MAXIMUM_KEPT),
        (having(limited(nodesPerHour=1)), ("default-a",), None),
        (having(limited(hourlyCost="3")), ("default-a",), None),
        (having(limited(hourlyCost="2.99")), ("default-a",), Invariant.MAXIMUM_KEPT),
        (having(pool("other")), ("default-a",), Invariant.MAXIMUM_KEPT),
        (having(caps=Caps(nodes=3)), ("default-a",), None),
        (having(caps=Caps(nodes=2)), ("default-a",), Invariant.TOTAL_KEPT),
        (having(caps=Caps(nodes_per_hour=0)), ("default-a",), Invariant.TOTAL_KEPT),
        (having(caps=Caps(hourly_cost=Decimal("2.5"))), ("default-a",), Invariant.TOTAL_KEPT),
    ],
)
def test_more_machines_than_anybody_allows_are_not_bought(
    seen: World, names: tuple[str, ...], expected: Invariant | None
) -> None:
    assert found(seen, *(buying(name) for name in names)) is expected


def test_a_create_that_is_tried_once_more_is_not_judged_by_a_maximum_of_today() -> None:
    lowered = pool(serverTypes=[{"name": "small", "max": 1}])
    seen = msgspec.structs.replace(having(lowered, unseen=("default-a",)), busy=frozenset())

    assert found(seen, buying("default-a")) is None


def test_what_was_let_through_counts_until_a_cache_shows_it_and_for_an_hour() -> None:
    seen = having(limited(nodesPerHour=1))
    memory = judged([buying("default-a")], seen, NOW).memory
    later = seen.remembering(replace(seen.ledger, invariants=memory))
    shown = msgspec.structs.replace(later, requests={"default-a": request("default-a")})

    assert memory.unseen.keys() == memory.begun.keys() == {"default-a"}
    assert found(later, buying("default-b")) is Invariant.MAXIMUM_KEPT
    assert not judged((), shown, NOW).memory.unseen
    assert not judged((), shown, at(NOW.monotonic + HOUR)).memory.begun


def ordering(**changes: Any) -> Order:
    known = Order(
        name="default-2",
        request_uid="uid-default-2",
        pool="default",
        node_class=leaving.CLOUD,
        server_type=request().spec.server_type,
        location="here",
        own_labels={},
        labels={},
        annotations={},
        taints=(),
    )
    return msgspec.structs.replace(known, **changes)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (ordering(), None),
        (ordering(request_uid="another"), Invariant.INTENT_FIRST),
        (ordering(name="default-9"), Invariant.INTENT_FIRST),
    ],
)
def test_a_machine_is_asked_for_by_its_own_request(
    order: Order, expected: Invariant | None
) -> None:
    assert found(having(), doing(CreateMachine(order=order), name=order.name)) is expected


def going(
    *objects: Any, reason: str = "Idle", brakes: Any = RELEASED, listed: Any = None, **spec: Any
) -> World:
    """A machine that has a removal, and a cloud that lists it."""
    brakes = replace(brakes, clouds={leaving.CLOUD: Trust()})
    shown = leaving.machine() if listed is None else listed
    return world(
        pool(),
        *objects,
        removals={NAME: leaving.removal(reason=reason, **spec)},
        clouds={leaving.CLOUD: Sight(listing=leaving.listing(shown))},
        ledger=Ledger(brakes=brakes),
    )


DELETE = DeleteMachine(node_class=leaving.CLOUD, machine=leaving.machine())
BLIND = replace(RELEASED, may_remove=False)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (going(node()), None),
        (going(node(), brakes=BLIND), Invariant.NEVER_BLIND),
        (going(node(), nodeID="kwok://other"), Invariant.DELETED_AS_NAMED),
        (going(node(), requestUID="another"), Invariant.DELETED_AS_NAMED),
        (going(node(), listed=leaving.machine("other")), Invariant.DELETED_AS_NAMED),
        (going(node(), on()), Invariant.PODS_KEEP_NODES),
        (going(node(), on(), reason="Consolidation"), Invariant.PODS_KEEP_NODES),
    ],
)
def test_a_machine_is_deleted_as_it_was_named_seen_and_empty(
    seen: World, expected: Invariant | None
) -> None:
    assert found(seen, doing(DELETE)) is expected


def test_a_machine_without_a_removal_is_not_deleted() -> None:
    seen = msgspec.structs.replace(going(node()), removals={})

    assert found(seen, doing(DELETE)) is Invariant.DELETED_AS_NAMED


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((node(),), None),
        ((node(), on()), Invariant.PODS_KEEP_NODES),
        ((node(cordoned=True),), Invariant.CORDON_KEPT),
    ],
)
def test_only_what_nobody_needs_goes_as_idle(
    objects: tuple[Any, ...], expected: Invariant | None
) -> None:
    opened = OpenRemoval(removal=leaving.removal(reason="Idle"))

    assert found(world(pool(), *objects), doing(opened)) is expected


@pytest.mark.parametrize(
    ("cordoned", "change", "expected"),
    [
        (False, True, None),
        (True, None, None),
        (True, True, Invariant.CORDON_KEPT),
        (True, False, Invariant.CORDON_KEPT),
    ],
)
def test_a_persons_cordon_is_not_touched(
    cordoned: bool,  # noqa: FBT001 - a row of the table
    change: bool | None,  # noqa: FBT001 - a row of the table
    expected: Invariant | None,
) -> None:
    step = SetNode(node=version(), unschedulable=change)

    assert found(world(node(cordoned=cordoned)), doing(step)) is expected


@pytest.mark.parametrize(
    ("reason", "expected"), [("Consolidation", None), ("Idle", Invariant.PODS_KEEP_NODES)]
)
def test_pods_are_evicted_only_where_their_node_is_drained(
    reason: str, expected: Invariant | None
) -> None:
    pod = on()
    step = Evict(namespace="default", name="web-0", uid=pod.metadata.uid)
    moving = Sequence(subject=Subject(SubjectKind.POD, "web-0"), steps=(step,), why="test")

    assert found(going(node(), pod, reason=reason), moving) is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [(MachineState.RUNNING, Invariant.DELETED_AS_NAMED), (MachineState.DELETING, None)],
)
def test_a_node_goes_after_its_machine(state: MachineState, expected: Invariant | None) -> None:
    seen = going(node(), listed=leaving.machine(state=state))

    assert found(seen, doing(Delete(kind="nodes", version=version()))) is expected


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ([], [leaving.machine()], None),
        ([leaving.machine()], [], Invariant.DELETED_AS_NAMED),
    ],
    ids=["another class shows it", "its own class shows it"],
)
def test_a_machine_is_gone_when_its_own_class_no_longer_lists_it(
    own: list[Machine], other: list[Machine], expected: Invariant | None
) -> None:
    # Both classes are of one project, and list it at different times.
    clouds = {
        ClassKey(leaving.CLOUD.kind, "another"): Sight(listing=leaving.listing(*other)),
        leaving.CLOUD: Sight(listing=leaving.listing(*own)),
    }
    seen = msgspec.structs.replace(going(node()), clouds=clouds, records={NAME: record(NAME)})

    assert found(seen, doing(Delete(kind="nodes", version=version()))) is expected


def test_a_subject_has_one_sequence_and_a_sequence_one_machine() -> None:
    step = SetNode(node=version())
    busy = msgspec.structs.replace(world(node()), busy=frozenset({machine(NAME)}))

    assert found(world(node()), doing(step), doing(step)) is Invariant.ONE_SEQUENCE
    assert found(busy, doing(step)) is Invariant.ONE_SEQUENCE
    assert found(world(node()), doing(step, name="other")) is Invariant.ONE_SEQUENCE


def three(**disruption: Any) -> World:
    """Three nodes in use, and a budget."""
    budgets = {"disruption": {"budgets": [disruption]}}
    return world(pool(**budgets), *(node(f"default-{n}") for n in range(3)))


def leaving_for(reason: str, *numbers: int) -> list[Sequence]:
    return [
        doing(
            OpenRemoval(removal=leaving.removal(f"default-{n}", reason=reason)), name=f"default-{n}"
        )
        for n in numbers
    ]


@pytest.mark.parametrize(
    ("budget", "reason", "many", "expected"),
    [
        ({"nodes": 1}, "Drift", 1, None),
        ({"nodes": 1}, "Drift", 2, Invariant.BUDGET_KEPT),
        ({"nodes": "50%"}, "Consolidation", 2, None),
        ({"nodes": "50%"}, "Consolidation", 3, Invariant.BUDGET_KEPT),
        ({"nodes": 0, "reasons": ["Unhealthy"]}, "Unhealthy", 1, Invariant.BUDGET_KEPT),
        ({"nodes": 0, "reasons": ["Unhealthy"]}, "Drift", 1, None),
        ({"nodes": 0}, "Surplus", 3, None),
    ],
)
def test_nodes_in_use_go_within_their_budgets_whoever_asked_for_it(
    budget: dict[str, Any], reason: str, many: int, expected: Invariant | None
) -> None:
    assert found(three(**budget), *leaving_for(reason, *range(many))) is expected


def test_what_is_on_its_way_out_counts_in_the_budget() -> None:
    going_already = leaving.removal("default-0", reason="Unhealthy")
    given = msgspec.structs.replace(three(nodes=1), removals={"default-0": going_already})
    assert found(given, *leaving_for("Drift", 1)) is Invariant.BUDGET_KEPT


def wild(seen: World, _now: Any) -> Decision[None]:
    """A room that buys on and on; its names are new each time."""
    name = f"default-w{len(seen.ledger.invariants.begun)}"
    return Decision(section=None, sequences=(buying(name),))


def test_a_breach_is_not_carried_out_and_nothing_is_decided_from_then_on() -> None:
    rooms = (Room("planning", wild, remembers_nothing),)
    seen, passes = having(), []
    for _ in range(3):
        outcome = decide(seen, NOW, rooms)
        passes.append((len(outcome.sequences), outcome.breach is not None))
        busy = seen.busy | {each.subject for each in outcome.sequences}
        seen = msgspec.structs.replace(seen, ledger=outcome.ledger, busy=busy)

    assert passes == [(1, False), (0, True), (0, False)]
    assert not seen.ledger.brakes.may_act
    assert "4 of small in pool default, 3 allowed" in seen.ledger.brakes.reason
