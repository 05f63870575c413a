"""Replacement by itself, over time: its questions are answered, what it writes is there at once.

Machines serve a moment after their request, and nodes whose removal is open go when a test says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.noderequest import NodeRequest, RequestPhase
from growth.scheduling.objects import Node, Pod
from reconciler import replacement
from reconciler.buying.offers import Shelf, shelf
from reconciler.core.actions import (
    CreateNodeRequest,
    Delete,
    EmitEvent,
    OpenRemoval,
    SetNode,
    Solve,
    Solved,
)
from reconciler.ledger import Ledger
from reconciler.replacement.ledger import ReplacementLedger
from reconciler.simulation.patches import set_node
from reconciler.solver import Effort
from reconciler.solver.answering import solve_within
from tests.reconciler.build import at, pool
from tests.removal.build import machine, node, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.planning.tries import Try

WHOLE = {"small": {"cpu": "2", "memory": "4Gi"}, "large": {"cpu": "8", "memory": "16Gi"}}
PRICES = {"small": "1", "large": "3"}
CONTROLLED = [{"kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}]


def standing(name: str, server_type: str = "small", /, **fields: Any) -> Node:
    """A node of the default pool that has served for long."""
    told = {"growth.dev/price": PRICES[server_type]} | fields.pop("annotations", {})
    made = node(name, server_type=server_type, annotations=told, **fields)
    amounts = {**WHOLE[server_type], "pods": "110"}
    labels = {**made.labels, "kubernetes.io/hostname": name}
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, labels=labels),
        status=msgspec.structs.replace(made.status, allocatable=amounts, capacity=amounts),
    )


def running(name: str, place: str, /, *, cpu: str = "500m", **spec: Any) -> Pod:
    """A pod of a deployment on a node."""
    metadata = {"ownerReferences": CONTROLLED} | spec.pop("metadata", {})
    return build.pod(
        name,
        on=place,
        requests={"cpu": cpu},
        metadata=metadata,
        status={"phase": "Running"},
        **spec,
    )


class Renewer:
    """A cluster that replacement looks at; tests change its objects between two spans of time."""

    def __init__(self, *objects: Any, **of_pool: Any) -> None:
        freely = {"disruption": {"budgets": [{"nodes": "100%"}]}}
        self.objects = {_key(each): each for each in (*objects, pool(**(freely | of_pool)))}
        self.now = 1000.0
        self.created: list[NodeRequest] = []
        self.opened: list[NodeRemovalRequest] = []
        self.events: list[tuple[str, str, str]] = []
        """Name of the node, reason and note of each."""
        self.asked: list[str] = []
        self.disturbed: dict[str, Any] = {}
        """What is changed in each world."""
        self.serves_after = 1.0
        self.tries: dict[str, Try] = {}
        """Pods that plans left out."""
        self._ledger = Ledger()
        self._plans: dict[str, Solved] = {}
        self._shelf = Shelf()

    @property
    def memory(self) -> ReplacementLedger:
        return self._ledger.replacement

    def restart(self) -> None:
        """The process ends and another one begins."""
        self._ledger, self._plans = Ledger(), {}

    def put(self, *objects: Any) -> None:
        self.objects.update({_key(each): each for each in objects})

    def remove(self, *objects: Any) -> None:
        for each in objects:
            del self.objects[_key(each)]

    def passes(self, seconds: float) -> None:
        """All passes that are due within so many seconds."""
        end = self.now + seconds
        while self.now < end:
            due = self._pass()
            self.now = min(max(due, self.now + 0.01), end)
            self._serve()

    @property
    def gone(self) -> list[str]:
        """The nodes whose removals are open."""
        return sorted(each.name for each in self.opened)

    @property
    def nodes(self) -> list[Node]:
        return [each for each in self.objects.values() if isinstance(each, Node)]

    @property
    def pods(self) -> list[Pod]:
        return [each for each in self.objects.values() if isinstance(each, Pod)]

    def node(self, name: str) -> Node:
        found: Node = self.objects["Node", "", name]
        return found

    def moves(self, name: str, phase: RequestPhase) -> None:
        """A request comes to a phase."""
        found = self.objects["NodeRequest", "", name]
        status = found.status.model_copy(update={"phase": phase})
        self.put(found.model_copy(update={"status": status}))

    def drain(self) -> None:
        """All nodes whose removals are open go, and their pods find the first room there is."""
        going = {name for kind, _, name in self.objects if kind == "NodeRemovalRequest"}
        for each in self.pods:
            if each.spec.node_name in going:
                self.put(_moved(each, self._first_with_room(each, going)))
        for name in going:
            self.objects.pop(("Node", "", name), None)
            self.objects.pop(("NodeRequest", "", name), None)
            del self.objects["NodeRemovalRequest", "", name]

    def _first_with_room(self, pod: Pod, going: set[str]) -> str:
        cluster = self.world().cluster
        return next(
            name
            for name, node in sorted(cluster.nodes.items())
            if name not in going
            and (node.allocatable - cluster.occupancy(name).requested).covers(pod.requests)
        )

    def _pass(self) -> float:
        decision = replacement.decide(self.world(), at(self.now))
        assert isinstance(decision.section, ReplacementLedger)
        self._ledger = replace(self._ledger, replacement=decision.section)
        steps = [step for each in decision.sequences for step in each.steps]
        for step in steps:
            self._carry_out(step)
        return self.now if steps else min(decision.wake_at, self.now + 2.0)

    def world(self) -> World:
        nodes = [each for kind, _, each in self._known() if kind == "Node"]
        objects = [each for kind, _, each in self._known() if kind != "NodeRemovalRequest"]
        removals = {
            name: each for kind, name, each in self._known() if kind.endswith("movalRequest")
        }
        seen = world(
            *objects,
            shown=tuple(machine(each.name) for each in nodes),
            listed_at=self.now - 1.0,
            removals=removals,
            plans=self._plans,
            seed=1 + len(self.created),
        )
        self._shelf = shelf(seen, self._shelf)
        planning = replace(seen.ledger.planning, shelf=self._shelf, tries=self.tries)
        ledger = replace(seen.ledger, planning=planning, replacement=self._ledger.replacement)
        return msgspec.structs.replace(seen, ledger=ledger, **self.disturbed)

    def _known(self) -> list[tuple[str, str, Any]]:
        return [(kind, name, each) for (kind, _, name), each in self.objects.items()]

    def _serve(self) -> None:
        """Machines that were asked for have joined, with what their requests say of them."""
        for each in [one for one in self.objects.values() if isinstance(one, NodeRequest)]:
            made = each.metadata.creation_timestamp
            if each.status.phase is not RequestPhase.PENDING or made is None:
                continue
            if at(self.now).seconds_since(made) >= self.serves_after:
                self.put(
                    standing(
                        each.name,
                        each.spec.server_type.canonical,
                        annotations=dict(each.metadata.annotations),
                    )
                )
                status = {"phase": RequestPhase.READY, "ready_at": at(self.now).wall}
                self.put(each.model_copy(update={"status": each.status.model_copy(update=status)}))

    def _carry_out(self, step: Action) -> None:
        match step:
            case CreateNodeRequest(request=request):
                made = {"creation_timestamp": at(self.now).wall, "uid": f"uid-{request.name}"}
                metadata = request.metadata.model_copy(update=made)
                self.put(request.model_copy(update={"metadata": metadata}))
                self.created.append(request)
            case OpenRemoval(removal=removal):
                self.put(removal)
                self.opened.append(removal)
            case Delete(kind=kind, version=version):
                del self.objects[kind, "", version.name]
            case SetNode(node=version):
                found = self.objects["Node", "", version.name]
                self.put(set_node(found, step))
            case EmitEvent(event=event):
                self.events.append((event.regarding.name, event.reason, event.note))
            case Solve(lane=lane, number=number):
                problem = step.stated
                self.asked.append(type(problem).__name__)
                plan = solve_within(problem, Effort.QUICK)
                self._plans[lane] = Solved(number=number, plan=plan)
            case _:
                raise AssertionError(f"replacement never does this: {step}")


def _moved(pod: Pod, place: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, uid=f"{pod.metadata.uid}+")
    spec = msgspec.structs.replace(pod.spec, node_name=place)
    return msgspec.structs.replace(pod, metadata=metadata, spec=spec)


def _key(each: Any) -> tuple[str, str, str]:
    metadata = each.metadata
    return type(each).__name__, getattr(metadata, "namespace", ""), metadata.name
