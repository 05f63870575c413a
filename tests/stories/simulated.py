"""The first stage: the simulated cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import msgspec
from typing_extensions import override

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.kube.cache.resource import Key
from growth.kube.errors import Unreachable
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import DaemonSet, Namespace, Node, Pod
from growth.scheduling.templates import defaulted
from reconciler.providers.port import Failed, FailureClass
from reconciler.simulation.cloud import SimulatedJoining, with_ready
from reconciler.simulation.effects import Result, SimulatedEffects
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story as Run
from tests.stories.ending import Seen, kind_of
from tests.stories.story import (
    Await,
    Call,
    Cordon,
    Happening,
    Make,
    Remove,
    Replace,
    Restart,
    Scale,
    Ungate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.noderequest import NodeRequest
    from reconciler.core.actions import CreateMachine
    from reconciler.providers.port import CreateAnswer
    from tests.stories import objects
    from tests.stories.story import Step, Story

RESTS = 45.0
"""Virtual seconds after the last step of a chapter: more than any wait but times to live."""
MOMENT = 0.005
DOWN = 5.0
RUN = Run(seed=1, minutes=60.0, faults=(), workloads=0)
BUILT_IN = {"Node": ("nodes", Node), "DaemonSet": ("daemon_sets", DaemonSet)}
OURS: dict[str, type[NodePool | KwokNodeClass]] = {
    "NodePool": NodePool,
    "KwokNodeClass": KwokNodeClass,
}


class LosesOrders(SimulatedEffects):
    """The first answer to each order of a machine doesn't come."""

    @override
    def _asked(self, action: CreateMachine) -> CreateAnswer:
        is_first = action.order.name not in self._cloud.machines
        answer = super()._asked(action)
        return Failed(failure=FailureClass.TRANSIENT, reason="lost") if is_first else answer


class LosesIntents(SimulatedEffects):
    """The first answer to each create of a request doesn't come."""

    @override
    def _create(self, request: NodeRequest) -> Result:
        is_first = self._server.kind("NodeRequest").named(request.name) is None
        result = super()._create(request)
        return Result(error=Unreachable("lost")) if is_first else result


LOSING = {Call.ORDER: LosesOrders, Call.INTENT: LosesIntents}


class Stage:
    """One story, told in virtual time."""

    def __init__(self, story: Story) -> None:
        effects = next((LOSING[call] for call in story.loses), SimulatedEffects)
        self._story = story
        self._owners: dict[str, SimulatedWorkload] = {}
        self._living = living = Living(RUN, SimulatedJoining.AT_ONCE, parts=Parts(effects=effects))
        self._server = living.server
        living.server.create("namespaces", Namespace(Metadata(name=story.name)))
        for each in story.given:
            self._make(each)
        living.lives.begin()

    def tell(self) -> Iterator[Seen]:
        """What is there at the end of each chapter."""
        for chapter in self._story.chapters:
            for step in chapter:
                self._play(step)
                self._pass(MOMENT)
            self._pass(RESTS)
            assert self._living.auditor.found is None, self._living.auditor.found
            yield self.seen

    @property
    def seen(self) -> Seen:
        """Everything as it is now."""
        found = {
            kind: tuple(self._server.kind(kind).objects.values())
            for kind in ("nodes", "pods", "NodeRequest")
        }
        return Seen(nodes=found["nodes"], pods=found["pods"], requests=found["NodeRequest"])

    def _pass(self, seconds: float) -> None:
        self._living.timeline.run(self._living.timeline.now + seconds)

    def _play(self, step: Step) -> None:
        match step:
            case Make(objects=made):
                for each in made:
                    self._make(each)
            case Scale(deployment=name, replicas=replicas):
                self._living.replicas.want(self._owners[name], replicas)
            case Remove(pod=name):
                self._living.kubelets.end(Key(self._story.name, name))
            case Ungate(pod=name):
                self._server.change("pods", Key(self._story.name, name), ungated)
            case Cordon():
                self._cordon()
            case Replace(by=by):
                self._replace(by.document(self._story.name))
            case Restart():
                self._living.lives.interrupt(down=DOWN)
            case Await(happening=happening):
                self._await(happening)
            case _:
                assert_never(step)

    def _make(self, made: objects.Object) -> None:
        document = made.document(self._story.name)
        match document["kind"]:
            case "Deployment":
                self._own(document)
            case "Pod":
                self._server.create("pods", pending(document))
            case "Node":
                self._server.create("nodes", with_ready(msgspec.convert(document, Node)))
            case "DaemonSet":
                self._server.create("daemon_sets", msgspec.convert(document, DaemonSet))
            case kind:
                self._server.create(kind, OURS[kind].model_validate(document))

    def _own(self, document: dict[str, Any]) -> None:
        name, spec = document["metadata"]["name"], document["spec"]
        owner = SimulatedWorkload(
            name=name,
            uid=f"owner-{name}",
            namespace=self._story.name,
            template=pending(spec["template"]),
            pods={},
        )
        self._owners[name] = owner
        self._living.replicas.want(owner, spec["replicas"])

    def _cordon(self) -> None:
        for node in self.seen.nodes:
            if kind_of(node) is not None:
                self._server.change("nodes", Key("", node.name), cordoned)

    def _replace(self, document: dict[str, Any]) -> None:
        kind = document["kind"]
        spec = OURS[kind].model_validate(document).spec
        key = Key("", document["metadata"]["name"])
        self._server.change(kind, key, lambda found: found.model_copy(update={"spec": spec}))

    def _await(self, happening: Happening) -> None:
        for _ in range(int(RESTS / MOMENT)):
            if happens(happening, self.seen):
                return
            self._pass(MOMENT)
        raise AssertionError(f"{self._story.name}: {happening} never came")


def happens(happening: Happening, seen: Seen) -> bool:
    """Whether it has come."""
    match happening:
        case Happening.REQUESTED:
            # A request names no pod that was still to come when it was planned.
            served = sum(each.pods for request in seen.requests for each in request.spec.workloads)
            return bool(seen.pods) and served >= len(seen.pods)
        case Happening.MADE:
            machines = {node.name for node in seen.nodes}
            return bool(seen.requests) and {each.name for each in seen.requests} <= machines
        case _:
            assert_never(happening)


def pending(document: dict[str, Any]) -> Pod:
    """A pod as the API server stores it."""
    pod = msgspec.convert(document, Pod)
    status = msgspec.structs.replace(pod.status, phase="Pending")
    return msgspec.structs.replace(pod, spec=defaulted(pod.spec), status=status)


def ungated(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, scheduling_gates=()))


def cordoned(node: Node) -> Node:
    return msgspec.structs.replace(
        node, spec=msgspec.structs.replace(node.spec, unschedulable=True)
    )
