"""Pods are moved away before a machine is given back, and nobody is forced without need."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.removal_reason import RemovalReason
from growth.kube.events.event import Severity
from growth.scheduling.objects import decode_disruption_budget, decode_volume_attachment
from reconciler import removal as removing
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.brakes.trust import Trust
from reconciler.core.actions import DeleteMachine, EmitEvent, Evict, Evicted, SetNode, pod_subject
from reconciler.ledger import Ledger
from tests.reconciler.build import RELEASED, START, at, pool, request
from tests.removal.build import (
    CLOUD,
    NAME,
    SCALE_DOWN,
    attempted,
    kinds,
    machine,
    node,
    removal,
    steps,
    world,
)
from tests.scheduling import build
from tests.scheduling.build import patient

if TYPE_CHECKING:
    from growth.scheduling.budgets import PodDisruptionBudget
    from growth.scheduling.csi import VolumeAttachment
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

DRAINING = sorted(each for each in RemovalReason if each.meaning.drains)
FORCED = [each for each in DRAINING if not each.meaning.is_optional]
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
OWNED = [{"kind": "ReplicaSet", "name": "web", "uid": "uid-web", "controller": True}]
DAEMON = [{"kind": "DaemonSet", "name": "agent", "uid": "uid-agent", "controller": True}]
LATE = "2026-01-01T00:01:09Z"
"""31 seconds before the moment of these tests."""
DONE = ["SetNode", "Delete NodeRemovalRequest"]


def drained(name: str = NAME, /, *, reason: str = "Consolidation", **fields: Any) -> Node:
    """A node that bears the cordon of its drain."""
    annotations = {"growth.dev/cordoned": reason} | fields.pop("annotations", {})
    return node(name, annotations=annotations, **({"unschedulable": True} | fields))


def draining(
    name: str = NAME, /, *, reason: str = "Consolidation", began: float = 90.0, **fields: Any
) -> Any:
    """A removal whose drain has begun."""
    told = {"at": at(began).wall, "name": "Drain started"}
    status = {"events": [told, *fields.pop("events", [])]} | fields.pop("status", {})
    return removal(name, reason=reason, status=status, made_at=began, **fields)


def running(name: str = "web-0", /, *, metadata: Any = None, **fields: Any) -> Pod:
    about = {"ownerReferences": OWNED, "uid": f"uid-{name}"} | (metadata or {})
    told = {"labels": {"app": "web"}, "on": NAME, "status": READY} | fields
    return build.pod(name, metadata=about, **told)


def budget(allowed: int, *, name: str = "web", app: str = "web") -> PodDisruptionBudget:
    return decode_disruption_budget(
        json.dumps(
            {
                "metadata": {"name": name, "namespace": "shop"},
                "spec": {"selector": {"matchLabels": {"app": app}}},
                "status": {"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3},
            }
        ).encode()
    )


def seen(*objects: Any, shown: Any = None, **changes: Any) -> World:
    return world(*objects, shown=(machine(),) if shown is None else shown, **changes)


def evicted(given: World, seconds: float = 100.0) -> list[str]:
    return [each.name for each in steps(given, seconds) if isinstance(each, Evict)]


def said(given: World, seconds: float = 100.0) -> list[tuple[str, str, str]]:
    events = (each.event for each in steps(given, seconds) if isinstance(each, EmitEvent))
    return [(each.regarding.kind, each.reason, each.note) for each in events]


# It begins


@pytest.mark.parametrize("reason", DRAINING)
def test_a_node_is_cordoned_with_our_mark_before_anything_is_evicted(reason: RemovalReason) -> None:
    given = seen(removal(reason=reason), node(), running())
    cordon, told, _ = steps(given)
    assert isinstance(cordon, SetNode)
    assert (cordon.annotations, cordon.unschedulable) == ({"growth.dev/cordoned": reason}, True)
    assert told.status["events"][-1]["name"] == "Drain started"  # type: ignore[union-attr]
    assert [reason for _, reason, _ in said(given)] == ["DrainStarted"]


def test_a_cordon_whose_telling_failed_is_told_and_not_set_again() -> None:
    given = seen(removal(reason="Drift"), drained(reason="Drift"), running())
    assert kinds(given) == ["PatchStatus NodeRemovalRequest"]


# It goes on


def test_all_pods_of_the_lowest_priority_are_evicted_at_once_and_others_wait() -> None:
    given = seen(
        draining(),
        drained(),
        running("web-0"),
        running("web-1"),
        running("high-0", priority=1000),
    )
    assert evicted(given) == ["web-0", "web-1"]


@pytest.mark.parametrize("state", ["there", "on its way out"])
def test_the_next_priority_waits_until_the_last_one_is_gone(state: str) -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:02:00Z"} if state != "there" else {}
    low, high = running("low", metadata=leaving), running("high", priority=1)
    assert "high" not in evicted(seen(draining(), drained(), low, high))
    assert evicted(seen(draining(), drained(), high)) == ["high"]


@pytest.mark.parametrize(
    "stays",
    [
        running("agent", metadata={"ownerReferences": DAEMON}),
        running("done", status={"phase": "Succeeded"}),
        running("mirror", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
        running("comes", on="", status={"nominatedNodeName": NAME}),
    ],
    ids=lambda pod: pod.metadata.name,
)
def test_nobody_waits_for_a_pod_that_is_not_to_be_moved(stays: Pod) -> None:
    given = seen(draining(), drained(), stays)
    assert kinds(given) == ["DeleteMachine"]


def test_the_machine_is_asked_for_when_the_last_pod_is_gone_and_not_before() -> None:
    leaving = running(metadata={"deletionTimestamp": "2026-01-01T00:02:00Z"})
    assert kinds(seen(draining(), drained(), leaving)) == []
    (ask,) = steps(seen(draining(), drained()))
    assert isinstance(ask, DeleteMachine)


def ended(**metadata: Any) -> Pod:
    """A pod that has ended, and that its kubelet has not deleted yet."""
    deleted = {"deletionTimestamp": "2026-01-01T00:02:00Z", **metadata}
    return build.pod("web-0", on=NAME, metadata=deleted, status={"phase": "Succeeded"})


@pytest.mark.parametrize("ready", [True, False])
def test_the_kubelet_has_time_to_delete_pods_that_have_ended(*, ready: bool) -> None:
    why = "Unhealthy"
    given = seen(draining(reason=why), drained(reason=why, ready=ready), ended())
    assert kinds(given) == ([] if ready else ["DeleteMachine"])


@pytest.mark.parametrize(
    "stays",
    [ended(deletionTimestamp=LATE), ended(ownerReferences=DAEMON)],
    ids=["something else keeps it", "it ends with its node"],
)
def test_nobody_waits_longer_for_pods_that_have_ended(stays: Pod) -> None:
    assert kinds(seen(draining(), drained(), stays)) == ["DeleteMachine"]


@pytest.mark.parametrize("ready", [True, False])
def test_only_on_a_silent_node_a_pod_beyond_its_grace_is_gone(*, ready: bool) -> None:
    overdue = running(metadata={"deletionTimestamp": LATE})
    given = seen(draining(reason="Unhealthy"), drained(reason="Unhealthy", ready=ready), overdue)
    assert kinds(given) == (["Evict"] if ready else ["DeleteMachine"])


def test_a_pod_that_comes_while_the_provider_is_at_work_is_evicted_too() -> None:
    asked = draining(status=attempted(seconds=10))
    assert evicted(seen(asked, drained(), running())) == ["web-0"]
    assert "DeleteMachine" not in kinds(seen(asked, drained(), running()))


@pytest.mark.parametrize("brake", ["a paused pool", "a cloud in doubt", "another machine"])
def test_nobody_is_evicted_during(brake: str) -> None:
    changes: dict[str, Any] = {}
    brakes = replace(RELEASED, clouds={CLOUD: Trust(judged=90.0)})
    match brake:
        case "a paused pool":
            pauses = {"default": Pause(cause=PauseCause.POOL, message="")}
            changes["ledger"] = Ledger(brakes=replace(brakes, pauses=pauses))
        case "a cloud in doubt":
            changes["ledger"] = Ledger(brakes=RELEASED)
        case _:
            changes["shown"] = (machine(request_uid="uid-of-another"),)
    assert kinds(seen(draining(), drained(), running(), **changes)) == []


def test_a_pod_that_comes_back_because_it_tolerates_the_cordon_is_not_evicted_in_a_loop() -> None:
    began = draining(reason="PoolDeleted", began=30.0)
    metadata = {"creationTimestamp": "2026-01-01T00:01:30Z"}
    again = running("again", metadata=metadata, tolerations=[{"operator": "Exists"}])
    given = seen(began, drained(reason="PoolDeleted"), again, running("web-0", metadata=metadata))
    assert evicted(given) == ["web-0"]
    assert "shop/again (it came back because it tolerates the cordon)" in said(given)[0][2]
    alone = seen(draining(reason="PoolDeleted"), drained(reason="PoolDeleted"), again)
    assert evicted(alone) == ["again"], "it was there when the drain began"
    assert evicted(given, 120) == ["again", "web-0"]


def attachment(on: str = NAME) -> VolumeAttachment:
    spec = {"attacher": "csi.example.com", "nodeName": on, "source": {}}
    return decode_volume_attachment(
        json.dumps({"metadata": {"name": "csi-1"}, "spec": spec}).encode()
    )


def test_volumes_have_a_moment_to_be_detached_from_a_node_that_lives() -> None:
    assert kinds(seen(draining(), drained(), attachment())) == ["PatchStatus NodeRemovalRequest"]
    told = {"at": at(95).wall, "name": "Pods gone"}
    waits = seen(draining(events=[told]), drained(), attachment())
    assert kinds(waits) == []
    assert removing.decide(waits, at(100)).wake_at == pytest.approx(155)
    for over in (
        (draining(events=[told]), drained()),
        (draining(), drained(), attachment("another")),
        (draining(), drained(ready=False), attachment()),
    ):
        assert kinds(seen(*over)) == ["DeleteMachine"]
    assert kinds(waits, 155) == ["DeleteMachine"], "it may be a DaemonSet's"


# Budgets


def test_a_budget_that_allows_one_lets_one_go_on_all_nodes_together() -> None:
    other = "default-2"
    given = seen(
        draining(),
        draining(other),
        drained(),
        drained(other),
        running("web-0"),
        running("web-1", on=other),
        running("db-0", labels={"app": "db"}),
        budget(1),
        shown=(machine(), machine(other)),
    )
    assert evicted(given) == ["db-0", "web-0"]


def test_what_a_budget_refuses_is_not_asked_for_until_it_allows_it() -> None:
    for allowed, gone in ((0, []), (1, ["web-0"])):
        assert evicted(seen(draining(), drained(), running(), budget(allowed))) == gone


def test_what_was_taken_from_a_budget_counts_before_it_shows_it() -> None:
    first, second = running("web-0"), running("web-1")
    asked = {"uid-web-0": answer("web-0", after=99.0)}
    given = seen(draining(), drained(), first, second, budget(1), evictions=asked)
    assert evicted(given) == []
    busy = seen(draining(), drained(), first, second, budget(1))
    busy = msgspec.structs.replace(busy, busy=frozenset({pod_subject(first)}))
    assert evicted(busy) == []


def answer(
    name: str = "web-0", *, after: float, refused: str = "", seconds: float = 0.0, times: int = 0
) -> Evicted:
    pod = Evict(namespace="shop", name=name, uid=f"uid-{name}")
    return Evicted(pod=pod, at=after, refused=refused, seconds=seconds, times=times)


RESTS = {
    "accepted, and not seen yet": (answer(after=99.0), 101.0),
    "refused once": (answer(after=99.5, refused="no", times=1), 100.5),
    "refused three times": (answer(after=98.0, refused="no", times=3), 102.0),
    "refused for an hour": (answer(after=99.0, refused="no", times=3000), 109.0),
    "asked to wait": (answer(after=99.0, refused="no", times=1, seconds=30.0), 129.0),
}


@pytest.mark.parametrize(("said", "until"), RESTS.values(), ids=RESTS.keys())
def test_nobody_is_hammered_with_a_pod_that_was(said: Evicted, until: float) -> None:
    given = seen(draining(), drained(), running(), evictions={"uid-web-0": said})
    assert evicted(given) == []
    assert removing.decide(given, at(100)).wake_at == pytest.approx(until)
    assert evicted(given, until) == ["web-0"]


def test_a_pod_that_rests_holds_up_no_other() -> None:
    refused = {"uid-web-0": answer(after=99.9, refused="no", times=4)}
    given = seen(draining(), drained(), running(), running("web-1"), evictions=refused)
    assert evicted(given) == ["web-1"]


def test_a_hundred_pods_are_asked_for_at_a_time() -> None:
    pods = [running(f"web-{number:03}") for number in range(150)]
    given = seen(draining(), drained(), *pods)
    assert len(evicted(given)) == 100
    asked = frozenset(pod_subject(pod) for pod in pods[:90])
    busy = msgspec.structs.replace(given, busy=asked)
    assert evicted(busy) == [f"web-{number:03}" for number in range(90, 100)]


OVERDUE = running(metadata={"deletionTimestamp": LATE})


def test_a_pod_whose_end_may_have_been_lost_is_asked_for_once_more_and_then_rarely() -> None:
    given = seen(draining(), drained(), OVERDUE, running("web-1"), budget(1))
    assert evicted(given) == ["web-0", "web-1"], "it takes nothing from its budget any more"
    asked = {"uid-web-0": answer(after=99.0), "uid-web-1": answer("web-1", after=99.0)}
    later = seen(draining(), drained(), OVERDUE, running("web-1"), budget(1), evictions=asked)
    assert evicted(later, 101) == ["web-1"]
    assert evicted(later, 109) == ["web-0", "web-1"]


# It is stuck


def test_who_is_in_the_way_is_told_once_by_name_with_what_holds_it() -> None:
    began = draining(reason="PoolDeleted", began=40.0)
    given = seen(began, drained(reason="PoolDeleted"), running(), budget(0))
    assert removing.decide(given, at(99)).wake_at == pytest.approx(100)
    assert said(given, 99) == []
    held = "PodDisruptionBudget shop/web allows no disruption now: healthy pods 3, required 3"
    why = f"shop/web-0 ({held})"
    assert said(given, 100) == [
        ("NodeRemovalRequest", "PodsStuck", why),
        ("Node", "PodsStuck", why),
    ]
    told = {"at": at(100).wall, "name": "Pods stuck", "reason": why}
    again = draining(reason="PoolDeleted", began=40.0, events=[told])
    for seconds in (101.0, 5000.0):
        assert said(seen(again, drained(reason="PoolDeleted"), running(), budget(0)), seconds) == []


def test_something_else_that_is_in_the_way_is_told_after_a_while() -> None:
    told = {"at": at(100).wall, "name": "Pods stuck", "reason": "shop/db-0 (it waits for its turn)"}
    began = draining(reason="PoolDeleted", began=40.0, events=[told])
    refused = {"uid-web-0": answer(after=99.0, refused="the namespace ends", times=9)}
    given = seen(began, drained(reason="PoolDeleted"), running(), evictions=refused)
    assert said(given, 699) == []
    (first, _) = said(given, 700)
    assert first[2] == "shop/web-0 (the namespace ends)"


def test_of_many_pods_in_the_way_some_are_named() -> None:
    pods = [running(f"web-{number}") for number in range(7)]
    began = draining(reason="PoolDeleted", began=30.0)
    given = seen(began, drained(reason="PoolDeleted"), *pods, budget(0))
    (first, _) = said(given)
    assert first[2].count("shop/web-") == 5
    assert first[2].endswith("; and 2 more")


def test_a_pod_in_its_grace_is_not_stuck_however_long_that_is() -> None:
    leaving = running(metadata={"deletionTimestamp": "2026-01-01T01:00:00Z"})
    given = seen(draining(began=0.0), drained(), leaving)
    for seconds in (100.0, 3600.0):
        assert kinds(given, seconds) == []
        assert said(given, seconds) == []


# It is given up


UNWILLING = {"growth.dev/do-not-disrupt": "true"}
LAID_HANDS_ON = {
    "a pod may not be moved": (drained(), running(metadata={"annotations": UNWILLING}), {}),
    "it would lose a pod": (drained(), running(metadata={"ownerReferences": []}), {}),
    "it may not be disrupted": (drained(annotations=UNWILLING), running(), {}),
    "a person uncordons it": (drained(unschedulable=False), running(), {}),
    "a budget holds a pod for too long": (drained(), running(), {"began": -200.0}),
    "a pod doesn't end": (
        drained(),
        running(metadata={"deletionTimestamp": LATE}),
        {"began": -200.0},
    ),
}


@pytest.mark.parametrize("reason", DRAINING)
@pytest.mark.parametrize(("there", "pod", "drain"), LAID_HANDS_ON.values(), ids=LAID_HANDS_ON)
def test_for_cost_or_drift_nobody_is_forced_and_for_the_rest_everybody_if(
    there: Node, pod: Pod, drain: dict[str, Any], reason: RemovalReason
) -> None:
    given = seen(draining(reason=reason, **drain), there, pod, budget(0))
    is_given_up = kinds(given) == DONE
    assert is_given_up is reason.meaning.is_optional
    if is_given_up:
        free = next(step for step in steps(given) if isinstance(step, SetNode))
        assert (free.annotations, free.unschedulable) == ({"growth.dev/cordoned": None}, False)
        assert [word for _, word, _ in said(given)] == ["DrainGivenUp"] * 2


def test_a_pod_that_is_on_its_way_out_has_no_will_any_more() -> None:
    ends = {"annotations": UNWILLING, "deletionTimestamp": "2026-01-01T00:02:00Z"}
    assert kinds(seen(draining(), drained(), running(metadata=ends))) == []


def test_what_a_drain_waits_for_at_most_wakes_us() -> None:
    told = {"at": at(60).wall, "name": "Pods stuck", "reason": "x"}
    given = seen(draining(began=0.0, events=[told]), drained(), running(), budget(0))
    assert removing.decide(given, at(100)).wake_at == pytest.approx(300)
    assert kinds(given, 299) == []
    assert kinds(given, 300) == DONE


def test_a_node_that_was_marked_as_idle_before_loses_that_mark_too() -> None:
    given = seen(draining(), drained(taints=[SCALE_DOWN], annotations=UNWILLING), running())
    free = next(step for step in steps(given) if isinstance(step, SetNode))
    assert (free.taints, free.unschedulable) == ((), False)


@pytest.mark.parametrize("reason", DRAINING)
def test_a_node_that_a_person_has_cordoned_is_theirs(reason: RemovalReason) -> None:
    given = seen(removal(reason=reason), node(unschedulable=True), running())
    assert kinds(given) == ["Delete NodeRemovalRequest"]
    assert said(given)[0][2] == "The node stays: a person has cordoned it."


@pytest.mark.parametrize("reason", DRAINING)
def test_nothing_is_given_up_once_the_provider_was_asked(reason: RemovalReason) -> None:
    asked = draining(reason=reason, began=-1000.0, status=attempted(seconds=10))
    given = seen(asked, drained(reason=reason), running(metadata={"annotations": UNWILLING}))
    assert evicted(given) == ["web-0"]
    assert "Delete NodeRemovalRequest" not in kinds(given)


def test_a_removal_that_somebody_deletes_frees_its_node() -> None:
    given = seen(draining(deleting=True), drained(), running())
    assert kinds(given) == ["SetNode", "SetFinalizers NodeRemovalRequest"]


def test_a_cordon_that_was_left_behind_is_taken_off() -> None:
    assert kinds(seen(drained(), running())) == ["SetNode"]
    assert (
        kinds(seen(drained(annotations={"growth.dev/cordoned": "machine-gone"}), running())) == []
    )


@pytest.mark.parametrize("ends", [LATE, "2026-01-01T00:02:00Z"])
def test_a_node_whose_machine_went_is_freed_when_the_grace_of_its_pods_is_long_over(
    ends: str,
) -> None:
    asked = draining(reason="Unhealthy", status=attempted(seconds=10))
    there = drained(reason="Unhealthy", ready=False)
    given = seen(asked, there, running(metadata={"deletionTimestamp": ends}), shown=())
    freed = ["Delete nodes", "Delete NodeRemovalRequest"]
    assert kinds(given) == (freed if ends == LATE else DONE)


# Pools


def deleted_pool(*, policy: str = "Drain") -> Any:
    made = pool(deletionPolicy=policy)
    metadata = made.metadata.model_copy(update={"deletion_timestamp": START})
    return made.model_copy(update={"metadata": metadata})


@pytest.mark.parametrize(
    ("policy", "there", "opened"),
    [
        pytest.param("Drain", node(), True, id="occupied"),
        pytest.param("Drain", node(annotations=UNWILLING), True, id="not to be disrupted"),
        pytest.param("Drain", node(unschedulable=True), False, id="a person's"),
        pytest.param("Retain", node(), False, id="left to whoever wants it"),
    ],
)
def test_the_node_of_a_deleted_pool_is_drained(
    policy: str,
    there: Node,
    opened: bool,  # noqa: FBT001 - a column of the table
) -> None:
    given = seen(there, running(), deleted_pool(policy=policy))
    assert ("OpenRemoval" in kinds(given)) is opened
    if opened:
        (step,) = steps(given)
        assert step.removal.spec.reason is RemovalReason.POOL_DELETED  # type: ignore[union-attr]


def test_a_node_of_a_deleted_pool_that_doesnt_serve_yet_is_left_to_its_request() -> None:
    coming = request(NAME, status={"phase": "Provisioning"})
    assert "OpenRemoval" not in kinds(seen(node(), coming, deleted_pool()))


def test_a_deleted_pool_that_is_paused_waits() -> None:
    pauses = {"default": Pause(cause=PauseCause.POOL, message="")}
    brakes = replace(RELEASED, clouds={CLOUD: Trust(judged=90.0)}, pauses=pauses)
    assert kinds(seen(node(), running(), deleted_pool(), ledger=Ledger(brakes=brakes))) == []


def test_an_idle_node_of_a_deleted_pool_waits_for_nothing() -> None:
    assert kinds(seen(node(), deleted_pool())) == ["OpenRemoval"]


def test_stuck_pods_are_a_warning() -> None:
    began = draining(reason="PoolDeleted", began=30.0)
    given = seen(began, drained(reason="PoolDeleted"), running(), budget(0))
    events = [each.event for each in steps(given) if isinstance(each, EmitEvent)]
    assert {each.severity for each in events} == {Severity.WARNING}


# Whatever is there


@st.composite
def drains(draw: st.DrawFn) -> World:
    """A few nodes in some state of their drains, with pods in some state of theirs."""
    names = [f"default-{number}" for number in range(draw(st.integers(1, 3)))]
    objects: list[Any] = []
    for name in names:
        reason = draw(st.sampled_from(DRAINING))
        objects.append(draining(name, reason=reason, began=draw(st.sampled_from([0.0, 90.0]))))
        there = draw(st.sampled_from([drained, node]))
        objects.append(there(name, ready=draw(st.booleans())))
    for number in range(draw(st.integers(0, 6))):
        metadata = draw(
            st.sampled_from([{}, {"deletionTimestamp": LATE}, {"annotations": UNWILLING}])
        )
        objects.append(
            running(
                f"pod-{number}",
                metadata=metadata,
                labels={"app": draw(st.sampled_from(["web", "db"]))},
                on=draw(st.sampled_from(names)),
                priority=draw(st.integers(0, 1)),
                status=draw(st.sampled_from([READY, {"phase": "Running"}])),
            )
        )
    objects += [
        budget(draw(st.integers(0, 2)), name=app, app=app)
        for app in draw(st.sets(st.sampled_from(["web", "db"])))
    ]
    return seen(*objects, shown=tuple(machine(name) for name in names))


@given(given=drains())
@patient
def test_no_budget_is_overdrawn_and_no_machine_is_asked_for_with_a_pod(given: World) -> None:
    pods = {
        pod.metadata.name: pod for each in given.cluster.occupancies.values() for pod in each.pods
    }
    going = [pods[name] for name in evicted(given)]
    for each in given.cluster.budgets.values():
        serving = (pod for pod in going if pod.is_ready and not pod.is_terminating)
        covered = [pod for pod in serving if each.covers(pod)]
        assert len(covered) <= each.allowed
    for pod in going:
        assert given.cluster.nodes[pod.spec.node_name].spec.unschedulable
    for step in steps(given):
        if isinstance(step, DeleteMachine):
            left = given.cluster.occupancy(step.machine.name).keepers
            is_ready = given.cluster.nodes[step.machine.name].is_ready
            assert all(pod.is_terminating and not is_ready for pod in left)
