"""Idle nodes: marked, left for a while, and given back unless somebody wants them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from growth.scheduling.emptiness import keepers
from reconciler import removal as removing
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.core.actions import DeleteMachine, OpenRemoval, SetNode
from reconciler.core.actions import machine as subject
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.removal.ledger import RemovalLedger
from tests.reconciler.build import START, at, node_class, pool, request, waiting
from tests.removal.build import (
    NAME,
    SCALE_DOWN,
    kinds,
    machine,
    marked,
    node,
    removal,
    steps,
    world,
)
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World


LEAVING = {"key": "growth.dev/leaving", "effect": "NoSchedule"}


def on(name: str = NAME, **fields: Any) -> Pod:
    return build.pod("web-0", on=name, **fields)


def of_daemon_set(name: str = NAME, **fields: Any) -> Pod:
    owner = {"kind": "DaemonSet", "name": "agent", "uid": "uid-agent", "controller": True}
    return on(name, metadata={"ownerReferences": [owner | {"apiVersion": "apps/v1"}]}, **fields)


def promised(given: World, name: str = NAME) -> World:
    pod = waiting()
    place = Nomination(machine=name, shape=pod.shape, is_bought_for=False, since=100.0)
    nominated = Nominated(places={pod.metadata.uid: place})
    return given.remembering(replace(given.ledger, planning=PlanningLedger(nominated=nominated)))


def paused(given: World) -> World:
    pauses = {"default": Pause(cause=PauseCause.POOL, message="")}
    brakes = replace(given.ledger.brakes, pauses=pauses)
    return given.remembering(replace(given.ledger, brakes=brakes))


# Marking


def test_an_idle_node_is_tainted_and_tells_when_it_goes() -> None:
    (step,) = steps(world(node(), shown=(machine(),)), 100)
    assert isinstance(step, SetNode)
    (taint,) = step.taints or ()
    assert taint.text == f"growth.dev/scale-down={int(START.timestamp()) + 100}:NoSchedule"
    assert step.annotations == {"growth.dev/scale-down-at": "2026-01-01T00:02:40Z"}
    assert step.unschedulable is None


def test_other_taints_stay_when_a_node_is_marked_and_when_it_is_wanted_again() -> None:
    gpu = {"key": "gpu", "value": "", "effect": "NoSchedule"}
    (mark,) = steps(world(node(taints=[gpu])))
    (unmark,) = steps(world(node(taints=[gpu, SCALE_DOWN]), on()))
    assert isinstance(mark, SetNode)
    assert isinstance(unmark, SetNode)
    assert [taint.key for taint in mark.taints or ()] == ["gpu", "growth.dev/scale-down"]
    assert [taint.key for taint in unmark.taints or ()] == ["gpu"]


EMPTY = {
    "no pod at all": (),
    "a DaemonSet's": (of_daemon_set(),),
    "one that is done": (on(status={"phase": "Succeeded"}),),
    "a static one": (on(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),),
}


@pytest.mark.parametrize("pods", EMPTY.values(), ids=EMPTY.keys())
def test_a_node_is_idle_with(pods: tuple[Pod, ...]) -> None:
    assert kinds(world(node(), *pods)) == ["SetNode"]


ENDS = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
WANTED: dict[str, World] = {
    "a pod is there": world(node(), on()),
    "a pod without owner or pool": world(node(), on(labels={})),
    "a pod on its way out": world(node(), on(metadata=ENDS)),
    "a pod is promised a place": promised(world(node())),
    "a person has cordoned it": world(node(unschedulable=True)),
    "somebody protects it": world(node(annotations={"growth.dev/do-not-disrupt": "true"})),
    "somebody means something by it": world(node(annotations={"growth.dev/do-not-disrupt": "1 h"})),
    "it is disabled as elsewhere": world(
        node(annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"})
    ),
    "its pool is paused": paused(world(node())),
    "it is still coming": world(
        node(taints=[{"key": "growth.dev/unregistered", "effect": "NoSchedule"}])
    ),
    "its request waits for it": world(node(), request(status={"phase": "Provisioning"})),
    "its removal has failed": world(node(), removal(status={"phase": "RemovalFailed"}, held=False)),
    "it belongs to another pool": world(node(), pool("other")),
    "it isn't ours": world(build.node("theirs")),
}


@pytest.mark.parametrize("given", WANTED.values(), ids=WANTED.keys())
def test_a_node_is_left_alone_while(given: World) -> None:
    assert kinds(given) == []


@pytest.mark.parametrize(
    "key",
    [
        "growth.dev/do-not-disrupt",
        "karpenter.sh/do-not-disrupt",
        "cluster-autoscaler.kubernetes.io/scale-down-disabled",
    ],
)
def test_an_annotation_that_says_no_holds_nothing(key: str) -> None:
    assert kinds(world(node(annotations={key: "false"}))) == ["SetNode"]


def test_a_new_node_has_some_time_for_the_pods_that_it_was_bought_for() -> None:
    ready = request(status={"phase": "Ready", "readyAt": START + timedelta(seconds=90)})
    given = world(node(), ready)
    assert kinds(given, 104.9) == []
    assert removing.decide(given, at(104.9)).wake_at == pytest.approx(105)
    assert kinds(given, 105) == ["SetNode"]


def test_an_idle_node_is_marked_at_the_end_of_its_wait_and_not_with_the_next_whole_second() -> None:
    ready = request(status={"phase": "Ready", "readyAt": START + timedelta(seconds=90.25)})
    given = world(node(), ready, shown=(machine(),))
    assert removing.decide(given, at(100)).wake_at == pytest.approx(105.25)


def test_a_clock_that_was_set_back_keeps_no_idle_node() -> None:
    ready = request(status={"phase": "Ready", "readyAt": START + timedelta(hours=1)})
    assert kinds(world(node(), ready)) == ["SetNode"]


# Going

OPENED = ["SetNode", "OpenRemoval"]
"""Nobody comes any more, then the removal is written."""


def later(given: World, *moments: tuple[float, bool]) -> list[list[str]]:
    """What is done at each moment, seeing or not."""
    done = []
    for moment, sees in moments:
        brakes = replace(given.ledger.brakes, may_remove=sees)
        given = given.remembering(replace(given.ledger, brakes=brakes))
        decision = removing.decide(given, at(moment))
        done.append([type(step).__name__ for each in decision.sequences for step in each.steps])
        assert isinstance(decision.section, RemovalLedger)
        given = given.remembering(replace(given.ledger, removal=decision.section))
    return done


def test_a_marked_node_goes_when_its_time_is_over_and_not_before() -> None:
    given = world(marked(until=160), shown=(machine(),))
    assert later(given, (100, True), (159.9, True), (160, True)) == [[], [], OPENED]
    assert removing.decide(given, at(100)).wake_at == pytest.approx(160)


def test_the_removal_names_the_machine_as_its_provider_lists_it() -> None:
    bar, step = steps(world(marked(until=90), shown=(machine(),)))
    assert isinstance(bar, SetNode)
    assert [taint.key for taint in bar.taints or ()] == [SCALE_DOWN["key"], LEAVING["key"]]
    assert isinstance(step, OpenRemoval)
    spec = step.removal.spec
    assert (spec.reason, spec.node_id, spec.request_uid) == (
        "Idle",
        "kwok://default-1",
        "uid-default-1",
    )
    assert kinds(world(marked(until=90), listed_at=99)) == [], "nothing is listed"


def test_an_hour_in_which_nothing_was_seen_is_no_idle_time() -> None:
    given = world(marked(until=160), shown=(machine(),))
    story = (100.0, True), (110.0, True), (3700.0, False), (3710.0, True), (3759.0, True)
    assert later(given, *story, (3760.0, True)) == [[], [], [], [], [], OPENED]


def test_an_hour_in_which_nobody_led_is_no_idle_time_either() -> None:
    """An outage of the API server ends every leader, and the memory with it."""
    given = world(marked(until=160), shown=(machine(),))
    given = given.remembering(replace(given.ledger, removal=RemovalLedger(unseen=3600.0)))
    story = (3710.0, True), (3759.0, True), (3760.0, True)
    assert later(given, *story) == [[], [], OPENED]


def test_who_was_away_for_a_moment_resumes_a_wait_where_it_would_be() -> None:
    given = world(marked(until=160), shown=(machine(),))
    given = given.remembering(replace(given.ledger, removal=RemovalLedger(unseen=2.0)))
    assert later(given, (161.5, True), (162.5, True)) == [[], OPENED]


def test_a_mark_of_ours_is_no_longer_than_its_span_however_long_nobody_led() -> None:
    given = world(marked(until=160), shown=(machine(),))
    given = given.remembering(replace(given.ledger, removal=RemovalLedger(unseen=9999.0)))
    assert later(given, (100.0, True), (160.0, True)) == [[], OPENED]


def test_a_clock_that_is_moved_makes_no_marked_node_go_later_than_its_span() -> None:
    given = world(marked(until=99_999), shown=(machine(),))
    assert later(given, (100, True), (160, True)) == [[], OPENED]


def test_a_node_to_which_nobody_comes_any_more_is_not_closed_again() -> None:
    barred = node(annotations=marked(until=90).metadata.annotations, taints=[SCALE_DOWN, LEAVING])
    assert kinds(world(barred, shown=(machine(),))) == ["OpenRemoval"]
    (unmark,) = steps(world(barred, on(), shown=(machine(),)))
    assert isinstance(unmark, SetNode)
    assert unmark.taints == ()


@pytest.mark.parametrize("until", [160, 90], ids=["before its time", "when its time is over"])
def test_a_pod_that_arrives_takes_the_marks_off(until: float) -> None:
    given = world(marked(until=until), on(), shown=(machine(),))
    (step,) = steps(given)
    assert isinstance(step, SetNode)
    assert step.taints == ()
    assert step.annotations == {"growth.dev/scale-down-at": None}


def test_a_mark_that_is_half_off_comes_off_whole() -> None:
    """A process may end between any two writes, and people may take a taint off by hand."""
    half = node(annotations={"growth.dev/scale-down-at": "2026-01-01T00:00:10Z"})
    assert kinds(world(half, on())) == ["SetNode"]


MARKED = marked(until=90)
COMES_OFF = {
    "a pod is promised a place": promised(world(MARKED)),
    "a person cordons it": world(marked(until=90, unschedulable=True)),
    "its pool is paused": paused(world(MARKED)),
}


@pytest.mark.parametrize("given", COMES_OFF.values(), ids=COMES_OFF.keys())
def test_the_marks_come_off_when(given: World) -> None:
    (step,) = steps(given)
    assert isinstance(step, SetNode)
    assert step.taints == ()
    assert step.unschedulable is None, "a person's cordon is never touched"


def left_behind() -> Any:
    """A pool that goes without its nodes."""
    made = pool(deletionPolicy="Retain")
    metadata = made.metadata.model_copy(update={"deletion_timestamp": START})
    return made.model_copy(update={"metadata": metadata})


def test_the_idle_node_of_a_pool_that_leaves_it_behind_is_never_marked() -> None:
    """Nobody would take the mark off any more."""
    assert kinds(world(node(), left_behind(), shown=(machine(),))) == []
    (unmark,) = steps(world(MARKED, left_behind(), shown=(machine(),)))
    assert isinstance(unmark, SetNode)
    assert unmark.taints == ()


CANCELS = {
    "its pool leaves it behind": lambda: world(
        MARKED, removal(reason="Idle"), left_behind(), shown=(machine(),)
    ),
    "a pod is promised a place": lambda: promised(
        world(MARKED, removal(reason="Idle"), shown=(machine(),))
    ),
    "a person cordons it": lambda: world(
        marked(until=90, unschedulable=True), removal(reason="Idle"), shown=(machine(),)
    ),
}


@pytest.mark.parametrize("given", CANCELS.values(), ids=CANCELS.keys())
def test_a_removal_that_wasnt_asked_for_yet_is_cancelled_when(given: Any) -> None:
    assert kinds(given()) == ["SetNode", "Delete NodeRemovalRequest"]


def test_the_removal_of_an_idle_node_asks_at_once() -> None:
    given = world(MARKED, removal(reason="Idle"), shown=(machine(),))
    assert [type(step) for step in steps(given)] == [DeleteMachine]


# What a pool keeps, and in which order nodes go


def test_a_pool_keeps_so_many_of_a_type() -> None:
    types = [{"name": "small", "min": 2, "max": 9}, {"name": "large", "max": 9}]
    nodes = [node(f"default-{number}", made_at=number) for number in range(3)]
    large = node("default-9", server_type="large")
    given = world(*nodes, large, pool(serverTypes=types))
    named = [step.node.name for step in steps(given) if isinstance(step, SetNode)]
    assert named == ["default-0", "default-9"]


def test_a_mark_beyond_what_the_pool_keeps_comes_off() -> None:
    types = [{"name": "small", "min": 1, "max": 9}]
    (step,) = steps(world(MARKED, pool(serverTypes=types), shown=(machine(),)))
    assert isinstance(step, SetNode)
    assert step.taints == ()


def marked_first(order: str, first: Any, second: Any, *pods: Any) -> str:
    """Which of two goes if only one may."""
    types = [{"name": "small", "min": 1, "max": 9}]
    shown = tuple(machine(each.name) for each in (first, second))
    rules = pool(serverTypes=types, scaleDown={"order": order})
    given = world(first, second, *pods, rules, shown=shown)
    (step,) = (step for step in steps(given) if isinstance(step, SetNode) and step.taints)
    return step.node.name


def test_the_oldest_goes_first_whatever_its_name() -> None:
    older, newer = node("default-b", made_at=1), node("default-a", made_at=2)
    assert marked_first("Oldest", newer, older) == "default-b"


def test_of_two_of_an_age_the_less_used_goes_first_if_the_pool_says_so() -> None:
    more, less = node("default-a", made_at=1), node("default-b", made_at=1)
    taken = of_daemon_set("default-a", requests={"cpu": "1"})
    assert marked_first("NotReadyOldestLeastUsed", more, less, taken) == "default-b"
    assert marked_first("Oldest", more, less, taken) == "default-a", "names decide"


def test_what_is_not_ready_goes_before_what_is_older_if_the_pool_says_so() -> None:
    older, sick = node("default-a", made_at=1), node("default-b", made_at=2, ready=False)
    assert marked_first("NotReadyOldestLeastUsed", older, sick) == "default-b"
    also_sick = node("default-a", made_at=1, ready=False)
    assert marked_first("Oldest", also_sick, sick) == "default-a"


UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
NOT_SERVING = {
    "its kubelet is silent": (node("default-2", made_at=2, ready=False),),
    "it boots": (node("default-2", made_at=2, ready=False, taints=[UNREGISTERED]),),
    "it was never taken into service": (node("default-2", made_at=2, taints=[UNREGISTERED]),),
    "a person has cordoned it": (node("default-2", made_at=2, unschedulable=True),),
    "its removal has failed": (
        node("default-2", made_at=2, taints=[SCALE_DOWN, LEAVING]),
        removal("default-2", status={"phase": "RemovalFailed"}, held=False),
    ),
}


@pytest.mark.parametrize("order", ["Oldest", "NotReadyOldestLeastUsed"])
@pytest.mark.parametrize("others", NOT_SERVING.values(), ids=NOT_SERVING.keys())
def test_the_last_node_that_serves_stays_with_a_minimum_of_one_though_there_is_another(
    others: tuple[Any, ...], order: str
) -> None:
    rules = pool(serverTypes=[{"name": "small", "min": 1, "max": 9}], scaleDown={"order": order})
    given = world(node(made_at=1), *others, rules, shown=(machine(), machine("default-2")))
    touched = {step.node.name for step in steps(given) if isinstance(step, SetNode)}
    assert NAME not in touched


# Hours that are paid


@pytest.mark.parametrize(
    ("seconds", "is_marked"),
    [(100, False), (3419, False), (3420, True), (3509, True), (3510, False)],
)
@pytest.mark.parametrize("hourly", ["by the pool", "by its class"])
def test_a_paid_hour_is_used_until_shortly_before_its_end(
    seconds: float,
    is_marked: bool,  # noqa: FBT001 - a column of the table
    hourly: str,
) -> None:
    """Bought at 0, idle for 60 s before it goes, and two minutes for the provider."""
    given = (
        world(node(), pool(scaleDown={"paidHour": "Use"}))
        if hourly == "by the pool"
        else world(
            node(), node_classes=dict.fromkeys(world().node_classes, node_class(billing="Hourly"))
        )
    )
    assert bool(kinds(given, seconds)) is is_marked


def test_the_loop_is_woken_when_a_paid_hour_is_nearly_over() -> None:
    given = world(node(), pool(scaleDown={"paidHour": "Use"}))
    assert removing.decide(given, at(100)).wake_at == pytest.approx(3420)
    assert removing.decide(given, at(3520)).wake_at == pytest.approx(7020)


# Whatever happens


@examples(
    st.lists(
        st.tuples(
            st.sampled_from(["bare", "marked", "cordoned", "coming"]),
            st.booleans(),
            st.booleans(),
        ),
        max_size=6,
    ),
    st.integers(0, 3),
)
def test_no_node_with_a_pod_and_no_persons_node_is_ever_marked_or_given_back(
    drawn: list[tuple[str, bool, bool]], least: int
) -> None:
    kinds_of: dict[str, Callable[[str], Node]] = {
        "bare": node,
        "marked": lambda name: marked(name, until=50),
        "cordoned": lambda name: node(name, unschedulable=True),
        "coming": lambda name: node(
            name, taints=[{"key": "growth.dev/unregistered", "effect": "NoSchedule"}]
        ),
    }
    objects: list[Any] = [pool(serverTypes=[{"name": "small", "min": least, "max": 9}])]
    for number, (kind, has_pod, _) in enumerate(drawn):
        objects.append(kinds_of[kind](f"default-{number}"))
        if has_pod:
            objects.append(on(f"default-{number}"))
    free = frozenset(
        subject(f"default-{number}") for number, (*_, busy) in enumerate(drawn) if busy
    )
    shown = tuple(machine(f"default-{number}") for number in range(len(drawn)))
    given = world(*objects, shown=shown, busy=free)
    going = set()
    for step in steps(given):
        match step:
            case SetNode(node=version, taints=taints) if taints:
                going.add(version.name)
            case OpenRemoval(removal=opened):
                going.add(opened.name)
            case _:
                pass
    for name in going:
        assert not keepers(given.cluster.occupancy(name).pods)
        assert not given.cluster.nodes[name].spec.unschedulable
        assert subject(name) not in free
    assert len(going) <= max(0, len(drawn) - least)
    assert isinstance(given.ledger, Ledger)
