"""A row's removal, pass after pass: what removal decides happens, and the cloud answers at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderemovalrequest import NodeRemovalRequestStatus
from reconciler import removal
from reconciler.actions import Delete, DeleteMachine, EmitEvent, PatchStatus, SetNode
from reconciler.decision import NEVER
from reconciler.providers.port import DeleteAnswer, DeleteOutcome, GivenBack, Sight
from tests.reconciler.build import at
from tests.removal.build import CLOUD, NAME, listing

if TYPE_CHECKING:
    from growth.scheduling.taints import Taint
    from reconciler.actions import Action
    from reconciler.world import World

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
            for step in (step for each in decision.sequences for step in each.steps):
                self._carry_out(step)
            if self.is_deleted or not decision.sequences:
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

    def _carry_out(self, step: Action) -> None:
        match step:
            case DeleteMachine():
                self._delete_machine()
            case PatchStatus(kind="NodeRemovalRequest", status=status):
                held = self.world.removals[NAME]
                after = NodeRemovalRequestStatus.model_validate(status)
                removals = {NAME: held.model_copy(update={"status": after})}
                self.world = msgspec.structs.replace(self.world, removals=removals, deletions={})
            case SetNode(taints=taints) if taints is not None:
                self._taint(taints)
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

    def _taint(self, taints: tuple[Taint, ...]) -> None:
        node = self.world.cluster.nodes[NAME]
        spec = msgspec.structs.replace(node.spec, taints=taints)
        tainted = msgspec.structs.replace(node, spec=spec)
        pods = self.world.cluster.occupancy(NAME).pods
        cluster = self.world.cluster.with_node(tainted, pods=pods)
        self.world = msgspec.structs.replace(self.world, cluster=cluster)
