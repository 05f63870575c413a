"""A row's removal, pass after pass: what removal decides happens, and the cloud answers at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderemovalrequest import NodeRemovalRequestStatus
from growth.api.wellknown import SCALE_DOWN_AT_ANNOTATION
from reconciler import removal
from reconciler.core.actions import Delete, DeleteMachine, EmitEvent, PatchStatus, SetNode
from reconciler.core.decision import NEVER
from reconciler.providers.port import DeleteAnswer, DeleteOutcome, GivenBack, Sight
from tests.reconciler.build import at
from tests.removal.build import CLOUD, NAME, listing

if TYPE_CHECKING:
    from reconciler.core.actions import Action, Sequence
    from reconciler.core.world import World

NOW = 1000.0
SCALE_DOWN = "growth.dev/scale-down"
PASSES = 5
"""More than any removal takes while no time passes."""


@dataclass(kw_only=True)
class Removing:
    """One removal, and what becomes of it while no time passes."""

    world: World
    answer: DeleteOutcome = DeleteOutcome.ACCEPTED
    """What the cloud says when it is asked to delete the machine."""
    goes_at_once: bool = False
    """Whether the next listing is without a machine whose delete was accepted."""
    refuses: frozenset[str] = frozenset()
    """Actions that the API server refuses: the first of them ends its sequence."""
    has_failed: bool = False
    """Whether one was refused."""
    asked: int = 0
    """How often the cloud was asked to delete it."""
    is_deleted: bool = False
    """Whether the removal is no more."""
    is_freed: bool = False
    """Whether the Node was deleted."""
    wakes_at: float = NEVER
    events_on: list[str] = field(default_factory=list)

    def play(self) -> None:
        """All passes that are due now."""
        for _ in range(PASSES):
            decision = removal.decide(self.world, at(NOW))
            self.wakes_at = decision.wake_at
            for sequence in decision.sequences:
                self._carry_out_all(sequence)
            if self.is_deleted or self.has_failed or not decision.sequences:
                break

    @property
    def status(self) -> NodeRemovalRequestStatus:
        """As the last pass has left it."""
        return self.world.removals[NAME].status

    @property
    def is_tainted(self) -> bool:
        """Whether the node keeps pods away because it is to go."""
        node = self.world.cluster.nodes.get(NAME)
        return node is not None and any(taint.key == SCALE_DOWN for taint in node.spec.taints)

    @property
    def goes_at(self) -> str | None:
        """What the node tells of when it goes."""
        node = self.world.cluster.nodes.get(NAME)
        return None if node is None else node.metadata.annotations.get(SCALE_DOWN_AT_ANNOTATION)

    def _carry_out_all(self, sequence: Sequence) -> None:
        for step in sequence.steps:
            if type(step).__name__ in self.refuses:
                self.has_failed = True
                break
            self._carry_out(step)

    def _carry_out(self, step: Action) -> None:
        match step:
            case DeleteMachine():
                self._delete_machine()
            case PatchStatus(kind="NodeRemovalRequest", status=status):
                held = self.world.removals[NAME]
                after = NodeRemovalRequestStatus.model_validate(status)
                removals = {NAME: held.model_copy(update={"status": after})}
                self.world = msgspec.structs.replace(self.world, removals=removals, deletions={})
            case SetNode():
                self._set_node(step)
            case Delete(kind="nodes"):
                self.is_freed = True
            case Delete(kind="NodeRemovalRequest"):
                self.is_deleted = True
            case EmitEvent(event=event):
                self.events_on.append(event.regarding.kind)
            case _:
                pass

    def _delete_machine(self) -> None:
        self.asked += 1
        given = GivenBack(at=NOW, answer=DeleteAnswer(outcome=self.answer))
        clouds = self.world.clouds
        if self.goes_at_once:
            clouds = {CLOUD: Sight(listing=listing(seconds=NOW), before=listing(seconds=NOW - 1))}
        self.world = msgspec.structs.replace(self.world, deletions={NAME: given}, clouds=clouds)

    def _set_node(self, step: SetNode) -> None:
        node = self.world.cluster.nodes[NAME]
        told = {**node.metadata.annotations, **step.annotations}
        kept = {key: text for key, text in told.items() if text is not None}
        taints = node.spec.taints if step.taints is None else step.taints
        cordon = node.spec.unschedulable if step.unschedulable is None else step.unschedulable
        after = msgspec.structs.replace(
            node,
            metadata=msgspec.structs.replace(node.metadata, annotations=kept),
            spec=msgspec.structs.replace(node.spec, taints=taints, unschedulable=cordon),
        )
        pods = self.world.cluster.occupancy(NAME).pods
        cluster = self.world.cluster.with_node(after, pods=pods)
        self.world = msgspec.structs.replace(self.world, cluster=cluster)
