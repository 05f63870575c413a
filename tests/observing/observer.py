"""An installation that observes, over time; tests change the cluster between two spans of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.nodepool import NodePool, PoolMode
from reconciler import loop
from reconciler.core.actions import PatchStatus, SetFinalizers, Solve
from reconciler.ledger import Ledger
from tests.reconciler.build import RELEASED, at, world
from tests.reconciler.solved import answers
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.observed import ObservedMachine, ObservedStatus
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Action, Solved


class Observer:
    """All rooms, with questions answered at once; nothing is carried out but statuses."""

    def __init__(self, *objects: Any) -> None:
        self.objects: dict[str, Any] = {}
        self.put(*objects)
        self.now = 100.0
        self.done: list[Action] = []
        """Whatever the loop would start, besides questions."""
        self._ledger = Ledger(brakes=RELEASED)
        self._plans: dict[str, Solved] = {}

    def put(self, *objects: Any) -> None:
        self.objects.update({f"{type(each).__name__}/{each.name}": each for each in objects})

    def remove(self, *objects: Any) -> None:
        for each in objects:
            del self.objects[f"{type(each).__name__}/{each.name}"]

    def until(self, seconds: float) -> Observer:
        began = self.now
        while self.now < seconds:
            self._pass()
            # What changes is planned within seconds; after that only time goes by.
            self.now = min(self.now + (0.5 if self.now < began + 5 else 15.0), seconds)
        self._pass()
        return self

    def soon(self) -> Observer:
        """Long enough for a plan."""
        return self.until(self.now + 10)

    def restart(self) -> None:
        self._ledger = Ledger(brakes=RELEASED)
        self._plans.clear()

    def status(self, pool: str = "default") -> ObservedStatus:
        """What the pool's status says, which is written once a minute at least."""
        observed: ObservedStatus | None = self.objects[f"NodePool/{pool}"].status.observed
        assert observed is not None
        return observed

    def machines(self) -> list[ObservedMachine]:
        """The machines that growth would have now."""
        return sorted(self.status().machines, key=lambda each: each.name)

    def types(self) -> list[str]:
        return sorted(str(each.server_type) for each in self.machines())

    def _pass(self) -> None:
        seen = world(
            *self.objects.values(),
            mode=PoolMode.OBSERVE,
            ledger=self._ledger,
            plans=self._plans,
            seed=int(self.now * 1000),
        )
        outcome = loop.decide(seen, at(self.now))
        self._ledger = outcome.ledger
        self._plans |= answers(outcome.sequences)
        for step in (step for each in outcome.sequences for step in each.steps):
            if isinstance(step, PatchStatus) and step.kind == NodePool.__name__:
                self._write(step)
            if isinstance(step, SetFinalizers):
                held = self.objects[f"NodePool/{step.version.name}"]
                update = {"finalizers": step.finalizers}
                metadata = held.metadata.model_copy(update=update)
                self.put(held.model_copy(update={"metadata": metadata}))
            if not isinstance(step, Solve):
                self.done.append(step)

    def _write(self, patch: PatchStatus) -> None:
        pool = self.objects[f"NodePool/{patch.version.name}"]
        status = {**pool.status.document(), **patch.status}
        fields = {name: value for name, value in status.items() if value is not None}
        self.put(pool.model_copy(update={"status": type(pool.status).model_validate(fields)}))


def node_of_others(name: str = "theirs", /, *, seconds: float = 110.0, kind: str = "small") -> Node:
    """A node that another autoscaler has added."""
    labels = {
        "node.kubernetes.io/instance-type": kind,
        "topology.kubernetes.io/region": "here",
    }
    made = build.node(name, cpu="2", memory="4Gi", labels=labels)
    ready = {"type": "Ready", "status": "True"}
    made = msgspec.convert(
        {
            **msgspec.to_builtins(made),
            "status": {**msgspec.to_builtins(made.status), "conditions": [ready]},
        },
        type(made),
    )
    created = at(seconds).wall.strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = msgspec.structs.replace(made.metadata, creation_timestamp=created)
    return msgspec.structs.replace(made, metadata=metadata)


def bound(pod: Pod, node: Node) -> Pod:
    """The pod on a node."""
    spec = msgspec.structs.replace(pod.spec, node_name=node.name)
    return msgspec.structs.replace(pod, spec=spec)
