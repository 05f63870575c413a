"""What was decided is carried out: in its order, on the state it was decided on, and once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec import structs
from prometheus_client import CollectorRegistry

from growth.errors import GiveUp
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.timing import CacheTiming
from growth.kube.election import Leadership
from growth.kube.errors import Overloaded
from growth.kube.events import Event, ObjectReference
from growth.scheduling.taints import Taint
from reconciler.core.actions import (
    Action,
    CreateMachine,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    EmitEvent,
    HoldSeat,
    OpenRemoval,
    PatchStatus,
    Sequence,
    SetFinalizers,
    SetNode,
    Solve,
    Version,
    machine,
)
from reconciler.effects.carrying_out import Effects
from reconciler.effects.points import Side
from reconciler.effects.stopping import Stopped
from reconciler.providers.kwok.provider import KwokProvider
from reconciler.providers.port import (
    Accepted,
    ClassKey,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    Machine,
    MachineState,
    Occupied,
    Order,
)
from reconciler.seeing.sources import ReconcilerSources
from reconciler.solver import Effort, Plan, Problem
from reconciler.solver.answering import solve_within
from tests.reconciler.api import PATHS, Api
from tests.reconciler.build import at, node_class, request, waiting
from tests.removal.build import removal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from reconciler.effects.points import Point
    from reconciler.solver import Renewed

pytestmark = pytest.mark.looptime

NAME = "default-1"
NODES, REQUESTS, PODS = PATHS["nodes"], PATHS["NodeRequest"], PATHS["pods"]

EVENT = Event(
    regarding=ObjectReference(api_version="growth.dev/v1alpha1", kind="NodeRequest", name=NAME),
    reason="BackOff",
    action="Plan",
    note="no machine fits",
)


@dataclass
class Stage:
    """Effects between an API server and caches that see it when they are told to."""

    api: Api
    sources: ReconcilerSources
    effects: Effects
    told: list[Point] = field(default_factory=list)
    said: list[Event] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    """When subjects became free."""
    free: asyncio.Event = field(default_factory=asyncio.Event)
    leads_for: float = float("inf")

    def end(self) -> None:
        self.ended.append(asyncio.get_running_loop().time())
        self.free.set()

    async def do(self, *steps: Action, name: str = NAME) -> None:
        """Carry out a sequence to its end, rest included."""
        self.effects.start(Sequence(subject=machine(name), steps=steps, why="test"))
        while machine(name) in self.effects.subjects:
            self.free.clear()
            await self.free.wait()

    def node(self, name: str = NAME, **spec: Any) -> Version:
        return self.stored(NODES, "nodes", {"metadata": {"name": name}, "spec": spec})

    def request(self, *, pods: Any = (), name: str = NAME) -> Version:
        document = request(name, pods=pods).document()
        return self.stored(REQUESTS, "NodeRequest", document)

    def stored(self, path: str, kind: str, document: Any) -> Version:
        metadata = self.api.put(path, document)["metadata"]
        self.api.show(self.sources, kind)
        return Version(
            name=metadata["name"],
            uid=metadata["uid"],
            resource_version=metadata["resourceVersion"],
        )

    def touch(self, path: str) -> None:
        """Somebody else writes."""
        self.api.put(path.rsplit("/", 1)[0], self.api.objects[path])


async def planned(question: Solve) -> Plan | Renewed:
    """At once, and in this process."""
    return solve_within(question.stated, Effort.QUICK)


@asynccontextmanager
async def staged() -> AsyncIterator[Stage]:
    api: Any = Api()
    sources = ReconcilerSources(
        api,
        namespace="home",
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(1),
        changed=lambda: None,
        timing=CacheTiming(),
    )
    known = node_class()
    provider = KwokProvider(api, node_class=lambda: known, now=lambda: at(7))
    async with asyncio.TaskGroup() as tasks:
        effects = Effects(
            connection=api,
            sources=sources,
            provider_of=lambda key: provider if key.name == "default" else None,
            leadership=Leadership(lambda: stage.leads_for),
            now=lambda: at(7),
            ended=lambda: stage.end(),  # noqa: PLW0108 - it is made below
            tasks=tasks,
            chance=Random(1),
            plan=planned,
        )
        stage = Stage(api, sources, effects)
        effects.say, effects.announce = stage.said.append, stage.told.append
        yield stage


def order(name: str = NAME, uid: str = "uid-1", *, node_class: str = "default") -> CreateMachine:
    return CreateMachine(
        order=Order(
            name=name,
            request_uid=uid,
            pool="default",
            node_class=ClassKey("KwokNodeClass", node_class),
            server_type=request().spec.server_type,
            location="here",
            own_labels={},
            labels={"growth.dev/pool": "default"},
            annotations={},
            taints=(),
        )
    )


async def test_a_request_is_written_and_not_decided_on_before_the_cache_sees_it() -> None:
    async with staged() as stage:
        await stage.do(CreateNodeRequest(request=request()))
        assert f"{REQUESTS}/{NAME}" in stage.api.objects
        assert dict(stage.sources.unseen())
        stage.api.show(stage.sources, "NodeRequest")
        assert not dict(stage.sources.unseen())


async def test_a_request_whose_answer_was_lost_is_adopted_by_the_next_try() -> None:
    async with staged() as stage:
        stage.api.lost.add("POST noderequests")
        await stage.do(CreateNodeRequest(request=request()))
        assert not dict(stage.sources.unseen())
        await stage.do(CreateNodeRequest(request=request()))
        assert stage.api.writes == ["POST noderequests"] * 2
        assert dict(stage.sources.unseen()), "it waits until the cache shows it"


async def test_a_request_that_exists_but_is_never_shown_rests_instead_of_being_made_in_a_loop() -> (
    None
):
    async with staged() as stage:
        stage.api.put(REQUESTS, request().document())
        stage.sources.store("NodeRequest").position = "999"
        began = asyncio.get_running_loop().time()
        await stage.do(CreateNodeRequest(request=request()))
        assert asyncio.get_running_loop().time() > began


async def test_a_request_that_exists_is_busy_though_the_cache_is_past_it_without_showing_it() -> (
    None
):
    async with staged() as stage:
        stage.api.put(REQUESTS, request().document())
        stage.sources.store("NodeRequest").position = "999"
        await stage.do(CreateNodeRequest(request=request()))
        await asyncio.sleep(600)
        assert [key.name for _, key in stage.sources.unseen()] == [NAME]


@pytest.mark.parametrize(("place", "bought"), [("", 1), ("default-0", 0), (None, 0)])
async def test_a_pod_that_was_bought_for_before_is_looked_up_first(
    place: str | None, bought: int
) -> None:
    """It waits still, is bound already, or is gone; the cache says that it waits."""
    pod = waiting()
    async with staged() as stage:
        stage.request(pods=(pod,), name="default-0")
        if place is not None:
            metadata = {"name": pod.metadata.name, "uid": pod.metadata.uid}
            path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods"
            stage.api.put(path, {"metadata": metadata, "spec": {"nodeName": place}})
        await stage.do(CreateNodeRequest(request=request(pods=(pod,))))
        assert stage.api.writes.count("POST noderequests") == bought


async def test_a_machine_is_ordered_and_the_answer_enters_the_world() -> None:
    async with staged() as stage:
        await stage.do(order())
        answered = stage.effects.heard.answers[NAME]
        assert answered.at == at(7).monotonic
        assert answered.answer == Accepted(machine_id=f"kwok://{NAME}")
        assert f"{NODES}/{NAME}" in stage.api.objects


async def test_an_order_whose_answer_was_lost_is_a_passing_failure_and_makes_no_second_one() -> (
    None
):
    async with staged() as stage:
        stage.api.lost.add("POST nodes")
        await stage.do(order())
        answer = stage.effects.heard.answers[NAME].answer
        assert isinstance(answer, Failed)
        assert answer.failure is FailureClass.TRANSIENT
        await stage.do(order())
        assert isinstance(stage.effects.heard.answers[NAME].answer, Accepted)
        assert len(stage.api.objects) == 1


async def test_an_order_for_a_node_class_that_nobody_serves_is_no_answer() -> None:
    async with staged() as stage:
        await stage.do(order(node_class="unknown"))
        assert stage.effects.heard.answers == {}


async def test_a_node_gets_what_was_decided_and_keeps_the_rest() -> None:
    async with staged() as stage:
        taints = [{"key": "growth.dev/unregistered", "value": "", "effect": "NoSchedule"}]
        node = stage.node(taints=taints, providerID="kwok://x")
        kept = Taint("only", "NoSchedule", "gpu")
        await stage.do(
            SetNode(node=node, taints=(kept,), labels={"a": "b"}, annotations={"c": None})
        )
        found = stage.api.objects[f"{NODES}/{NAME}"]
        assert found["spec"] == {
            "taints": [{"key": "only", "value": "gpu", "effect": "NoSchedule"}],
            "providerID": "kwok://x",
        }
        assert found["metadata"]["labels"] == {"a": "b"}


async def test_a_node_without_taints_has_none_instead_of_an_empty_list() -> None:
    async with staged() as stage:
        node = stage.node(taints=[{"key": "x", "effect": "NoSchedule"}], unschedulable=True)
        await stage.do(SetNode(node=node, taints=(), unschedulable=False))
        assert stage.api.objects[f"{NODES}/{NAME}"]["spec"] == {}


SEAT = HoldSeat(namespace="shop", name="web-0", uid="web-0", node=NAME)


async def test_a_seat_is_held_before_the_next_step_of_its_node() -> None:
    async with staged() as stage:
        node = stage.node(taints=[{"key": "growth.dev/unregistered", "effect": "NoSchedule"}])
        path = "/api/v1/namespaces/shop/pods"
        pod = stage.api.put(path, {"metadata": {"name": "web-0", "namespace": "shop"}})
        seat = structs.replace(SEAT, uid=pod["metadata"]["uid"])
        await stage.do(seat, SetNode(node=node, taints=()))
        assert stage.api.objects[f"{path}/web-0"]["status"]["nominatedNodeName"] == NAME
        assert stage.api.objects[f"{NODES}/{NAME}"]["spec"] == {}


async def test_a_seat_that_can_not_be_held_keeps_no_node_closed() -> None:
    async with staged() as stage:
        node = stage.node(taints=[{"key": "growth.dev/unregistered", "effect": "NoSchedule"}])
        await stage.do(SEAT, SetNode(node=node, taints=()))
        assert stage.api.objects[f"{NODES}/{NAME}"]["spec"] == {}


async def test_a_status_that_shows_the_answer_ends_it() -> None:
    async with staged() as stage:
        version = stage.request()
        await stage.do(order())
        patch = PatchStatus(kind="NodeRequest", version=version, status={"phase": "Provisioning"})
        await stage.do(patch)
        assert stage.effects.heard.answers == {}
        assert stage.api.objects[f"{REQUESTS}/{NAME}"]["status"]["phase"] == "Provisioning"


async def test_finalizers_are_written_as_they_are_to_be() -> None:
    async with staged() as stage:
        version = stage.request()
        await stage.do(SetFinalizers(kind="NodeRequest", version=version, finalizers=()))
        assert stage.api.objects[f"{REQUESTS}/{NAME}"]["metadata"]["finalizers"] == []


async def test_an_object_is_deleted_in_the_very_state_that_was_decided_on() -> None:
    async with staged() as stage:
        version = stage.request()
        stage.touch(f"{REQUESTS}/{NAME}")
        await stage.do(Delete(kind="NodeRequest", version=version))
        assert f"{REQUESTS}/{NAME}" in stage.api.objects
        again = Version(
            name=NAME,
            uid=version.uid,
            resource_version=stage.api.objects[f"{REQUESTS}/{NAME}"]["metadata"]["resourceVersion"],
        )
        await stage.do(Delete(kind="NodeRequest", version=again))
        assert f"{REQUESTS}/{NAME}" not in stage.api.objects


async def test_an_object_that_is_gone_already_is_a_deletion_that_worked() -> None:
    async with staged() as stage:
        version = stage.request()
        del stage.api.objects[f"{REQUESTS}/{NAME}"]
        await stage.do(Delete(kind="NodeRequest", version=version))
        assert [point.side for point in stage.told] == [Side.BEFORE, Side.AFTER]
        assert dict(stage.sources.unseen()), "the cache has to learn it first"


async def test_an_object_that_went_when_it_was_let_go_is_not_let_go_in_vain() -> None:
    async with staged() as stage:
        version = stage.request()
        del stage.api.objects[f"{REQUESTS}/{NAME}"]
        await stage.do(SetFinalizers(kind="NodeRequest", version=version, finalizers=()))
        assert [point.side for point in stage.told] == [Side.BEFORE, Side.AFTER]
        assert dict(stage.sources.unseen()), "the cache has to learn it first"


async def test_an_event_is_said_and_nothing_is_written() -> None:
    async with staged() as stage:
        await stage.do(EmitEvent(event=EVENT))
        assert stage.said == [EVENT]
        assert stage.api.writes == []


async def test_a_plan_enters_the_world_with_the_number_of_its_question() -> None:
    question = Solve(
        lane="demand", number=7, problem=Problem(resources=("cpu",), classes=(), offers=())
    )
    async with staged() as stage:
        await stage.do(question)
        solved = stage.effects.heard.plans["demand"]
        assert solved.number == 7
        assert isinstance(solved.plan, Plan)
        assert solved.plan.nodes == ()
        assert stage.api.writes == []


async def test_the_first_step_that_fails_ends_its_own_sequence_only() -> None:
    async with staged() as stage:
        old, fine = stage.node(), stage.node("default-2")
        stage.touch(f"{NODES}/{NAME}")
        version = stage.request()
        failing = stage.do(
            SetNode(node=old, labels={"a": "b"}), Delete(kind="NodeRequest", version=version)
        )
        other = stage.do(SetNode(node=fine, labels={"a": "b"}), name="default-2")
        await asyncio.gather(failing, other)
        assert f"{REQUESTS}/{NAME}" in stage.api.objects
        assert stage.api.objects[f"{NODES}/default-2"]["metadata"]["labels"] == {"a": "b"}


async def test_what_is_outdated_and_known_to_be_is_free_at_once() -> None:
    async with staged() as stage:
        old = stage.node()
        stage.touch(f"{NODES}/{NAME}")
        stage.api.show(stage.sources, "nodes")
        began = asyncio.get_running_loop().time()
        await stage.do(SetNode(node=old, labels={"a": "b"}))
        assert stage.ended == [pytest.approx(began)]


async def test_what_is_outdated_is_free_as_soon_as_the_cache_knows() -> None:
    async with staged() as stage:
        old = stage.node()
        stage.touch(f"{NODES}/{NAME}")
        clock = asyncio.get_running_loop()
        began = clock.time()
        clock.call_at(began + 0.02, stage.api.show, stage.sources, "nodes")
        await stage.do(SetNode(node=old, labels={"a": "b"}))
        assert stage.ended == [pytest.approx(began + 0.02, abs=0.006)]


async def test_what_is_outdated_while_the_cache_lags_rests_longer_each_time() -> None:
    async with staged() as stage:
        old = stage.node()
        stage.touch(f"{NODES}/{NAME}")
        rests = [await rest(stage, SetNode(node=old, labels={"a": "b"})) for _ in range(4)]
        assert 0 < rests[0] < rests[-1]


async def rest(stage: Stage, step: Action) -> float:
    began = asyncio.get_running_loop().time()
    await stage.do(step)
    return stage.ended[-1] - began


async def test_a_success_ends_the_waits_of_a_subject() -> None:
    async with staged() as stage:
        node = stage.node()
        step = SetNode(node=node, labels={"a": "b"})
        stage.api.refusals["PATCH nodes"] = [Overloaded("busy") for _ in range(5)]
        first, *_, last = [await rest(stage, step) for _ in range(5)]
        assert last > 4 * first
        await stage.do(step)
        stage.api.refusals["PATCH nodes"] = [Overloaded("busy")]
        assert await rest(stage, step) <= 0.1


async def test_what_the_server_asks_to_wait_is_waited() -> None:
    async with staged() as stage:
        node = stage.node()
        stage.api.refusals["PATCH nodes"] = [Overloaded("busy", after=20.0)]
        assert await rest(stage, SetNode(node=node, labels={"a": "b"})) >= 20


async def test_nothing_is_done_when_the_leadership_has_ended() -> None:
    async with staged() as stage:
        stage.leads_for = 0.0
        await stage.do(CreateNodeRequest(request=request()), order())
        assert stage.api.writes == []
        assert stage.effects.heard.answers == {}


async def test_the_leadership_is_asked_for_before_each_step() -> None:
    async with staged() as stage:

        def depose(point: Point) -> None:
            if point.side is Side.AFTER:
                stage.leads_for = 0.0

        stage.effects.announce = depose
        await stage.do(CreateNodeRequest(request=request()), order())
        assert stage.api.writes == ["POST noderequests"]


def stop(stage: Stage) -> None:
    def check() -> None:
        raise Stopped("a rule was about to be broken")

    stage.effects.may_write = check


async def test_what_has_begun_ends_before_its_next_write_when_writing_stops() -> None:
    async with staged() as stage:

        def breach(point: Point) -> None:
            if point.side is Side.AFTER:
                stop(stage)

        stage.effects.announce = breach
        await stage.do(CreateNodeRequest(request=request()), order())
        assert stage.api.writes == ["POST noderequests"]
        assert stage.effects.heard.answers == {}


async def test_a_subject_has_one_sequence_at_a_time() -> None:
    async with staged() as stage:
        steps = (CreateNodeRequest(request=request()),)
        sequence = Sequence(subject=machine(NAME), steps=steps, why="test")
        stage.effects.start(sequence)
        with pytest.raises(RuntimeError, match="worked on already"):
            stage.effects.start(sequence)


async def test_each_effect_is_announced_on_both_sides_and_a_failed_one_on_one() -> None:
    async with staged() as stage:
        node = stage.node()
        stage.api.refusals["PATCH nodes"] = [Overloaded("busy")]
        await stage.do(SetNode(node=node, labels={"a": "b"}))
        await stage.do(SetNode(node=node, labels={"a": "b"}))
        told = [(each.number, each.step, each.verb, each.kind, each.side) for each in stage.told]
        assert told == [
            (1, "SetNode", "patch", "Node", Side.BEFORE),
            (2, "SetNode", "patch", "Node", Side.BEFORE),
            (2, "SetNode", "patch", "Node", Side.AFTER),
        ]


async def test_what_can_never_work_is_tried_again_but_slowly() -> None:
    async with staged() as stage:
        node = stage.node()
        stage.api.refusals["PATCH nodes"] = [GiveUp("refused")] * 9  # type: ignore[list-item] # any verdict
        rests = [await rest(stage, SetNode(node=node, labels={"a": "b"})) for _ in range(9)]
        assert rests[-1] > 5


# Machines are given back


def given_back(name: str = NAME, *, node_class: str = "default") -> DeleteMachine:
    listed = Machine(
        machine_id=f"kwok://{name}",
        name=name,
        request_uid="uid-1",
        pool="default",
        state=MachineState.RUNNING,
    )
    return DeleteMachine(node_class=ClassKey("KwokNodeClass", node_class), machine=listed)


def outcome(stage: Stage) -> object:
    answer = stage.effects.heard.deletions[NAME].answer
    return answer.outcome if isinstance(answer, DeleteAnswer) else answer


async def test_a_removal_is_written_and_adopted_when_its_answer_was_lost() -> None:
    async with staged() as stage:
        opening = OpenRemoval(removal=removal())
        stage.api.lost.add("POST noderemovalrequests")
        await stage.do(opening)
        await stage.do(opening)
        assert stage.api.writes == ["POST noderemovalrequests"] * 2
        written = stage.api.objects[f"{PATHS['NodeRemovalRequest']}/{NAME}"]
        assert written["spec"]["nodeID"] == f"kwok://{NAME}"
        assert dict(stage.sources.unseen()), "it waits until the cache shows it"


async def test_a_machine_is_deleted_and_the_answer_enters_the_world() -> None:
    async with staged() as stage:
        await stage.do(order())
        await stage.do(given_back())
        assert f"{NODES}/{NAME}" not in stage.api.objects
        assert outcome(stage) is DeleteOutcome.ACCEPTED
        assert stage.effects.heard.deletions[NAME].at == at(7).monotonic


async def test_a_machine_that_is_gone_already_is_a_delete_that_worked() -> None:
    async with staged() as stage:
        await stage.do(given_back())
        assert outcome(stage) is DeleteOutcome.GONE


async def test_a_delete_whose_answer_was_lost_is_a_failure_that_can_be_repeated() -> None:
    async with staged() as stage:
        await stage.do(order())
        stage.api.lost.add("DELETE nodes")
        await stage.do(given_back())
        assert outcome(stage) is DeleteOutcome.FAILED
        await stage.do(given_back())
        assert outcome(stage) is DeleteOutcome.GONE


DAEMON = [{"kind": "DaemonSet", "name": "agent", "uid": "uid-agent", "controller": True}]


@pytest.mark.parametrize(
    ("metadata", "phase", "stays"),
    [
        ({}, "Running", True),
        ({}, "Succeeded", False),
        ({"ownerReferences": DAEMON}, "Running", False),
    ],
    ids=["a pod", "a pod that is done", "a DaemonSet's pod"],
)
async def test_the_last_look_finds_pods_that_no_cache_shows(
    metadata: dict[str, Any],
    phase: str,
    stays: bool,  # noqa: FBT001 - a column of the table
) -> None:
    async with staged() as stage:
        await stage.do(order())
        pod = {"metadata": {"name": "web-0", "namespace": "shop", **metadata}}
        stage.api.put(
            "/api/v1/namespaces/shop/pods",
            pod | {"spec": {"nodeName": NAME, "containers": []}, "status": {"phase": phase}},
        )
        await stage.do(given_back())
        assert (f"{NODES}/{NAME}" in stage.api.objects) is stays
        if stays:
            assert outcome(stage) == Occupied(pods=("shop/web-0",))


@pytest.mark.parametrize(("ahead", "lists"), [(0, ["pods"]), (-1, [])], ids=["lost", "on its way"])
async def test_a_list_is_asked_for_pods_in_the_way_that_no_event_will_tell(
    ahead: int, lists: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    async with staged() as stage:
        monkeypatch.setattr(stage.sources, "relist", asked.append)
        await stage.do(order())
        metadata = {"name": "web-0", "namespace": "shop"}
        pod = {"metadata": metadata, "spec": {"nodeName": NAME, "containers": []}}
        stage.api.put("/api/v1/namespaces/shop/pods", pod)
        stage.sources.store("pods").position = str(stage.api.version + ahead)
        await stage.do(given_back())
        assert outcome(stage) == Occupied(pods=("shop/web-0",))
        assert asked == lists


async def test_pods_of_other_nodes_are_in_nobodys_way() -> None:
    async with staged() as stage:
        await stage.do(order())
        pod = {"metadata": {"name": "web-0"}, "spec": {"nodeName": "another", "containers": []}}
        stage.api.put("/api/v1/namespaces/shop/pods", pod)
        await stage.do(given_back())
        assert outcome(stage) is DeleteOutcome.ACCEPTED


async def test_nothing_is_deleted_by_who_lost_the_leadership_during_the_last_look() -> None:
    async with staged() as stage:
        await stage.do(order())
        look = stage.api.request

        async def slow(*words: Any, **named: Any) -> Any:
            stage.leads_for = 0.0
            return await look(*words, **named)

        stage.api.request = slow  # type: ignore[method-assign] # the lease ends on the way
        await stage.do(given_back())
        assert f"{NODES}/{NAME}" in stage.api.objects
        assert stage.effects.heard.deletions == {}


async def test_nothing_is_deleted_when_writing_stops_during_the_last_look() -> None:
    async with staged() as stage:
        await stage.do(order())
        look = stage.api.request

        async def slow(*words: Any, **named: Any) -> Any:
            stop(stage)
            return await look(*words, **named)

        stage.api.request = slow  # type: ignore[method-assign] # a breach on the way
        await stage.do(given_back())
        assert f"{NODES}/{NAME}" in stage.api.objects
        assert stage.effects.heard.deletions == {}


@pytest.mark.parametrize("end", ["its status", "its deletion"])
async def test_what_came_of_a_delete_is_known_until_the_removal_shows_it(end: str) -> None:
    async with staged() as stage:
        version = stage.stored(
            PATHS["NodeRemovalRequest"], "NodeRemovalRequest", removal().document()
        )
        await stage.do(given_back())
        assert NAME in stage.effects.heard.deletions
        kind = "NodeRemovalRequest"
        if end == "its status":
            step: Action = PatchStatus(kind=kind, version=version, status={"removalAttempt": 1})
        else:
            step = Delete(kind=kind, version=version)
        await stage.do(step)
        assert stage.effects.heard.deletions == {}


class Odd:
    """A provider that answers what nobody has thought of, for some machines."""

    def __init__(self, provider: Any, *, for_name: str) -> None:
        self._provider = provider
        self._for_name = for_name

    async def create(self, order: Order) -> Any:
        if order.name == self._for_name:
            raise KeyError("a secret")
        return await self._provider.create(order)


async def test_a_step_that_crashes_ends_neither_the_process_nor_what_others_need() -> None:
    async with staged() as stage:
        whole = stage.effects.provider_of
        stage.effects.provider_of = lambda key: cast("Any", Odd(whole(key), for_name=NAME))
        await stage.do(order())
        await stage.do(order("default-2"), name="default-2")
        assert list(stage.effects.heard.crashes) == [machine(NAME)]
        crash = stage.effects.heard.replies.crashes[machine(NAME)]
        assert crash.why.startswith("KeyError in ")
        assert "secret" not in crash.why
        assert isinstance(stage.effects.heard.answers["default-2"].answer, Accepted)


async def test_the_wait_after_a_crash_doubles_until_a_step_succeeds() -> None:
    async with staged() as stage:
        whole = stage.effects.provider_of
        waits: list[float] = []

        async def crash() -> float:
            stage.effects.provider_of = lambda key: cast("Any", Odd(whole(key), for_name=NAME))
            await stage.do(order())
            return stage.effects.heard.crashes[machine(NAME)].again_at - at(7).monotonic

        for _ in range(9):
            waits.append(await crash())
            # An event is no success.
            await stage.do(EmitEvent(event=EVENT))
        assert 5 <= waits[0] <= 10
        assert 300 <= waits[-1] <= 600
        assert waits[3] > 2 * waits[0]
        stage.effects.provider_of = whole
        await stage.do(order())
        assert stage.effects.heard.crashes == {}
        assert await crash() <= 10
