"""What growth leaves out for pools that only observe: the one place that every decision passes.

The brakes hold such pools like paused ones, so that hardly a rule decides to act for them. But a
pause lets machines on their way be finished, and orphans and machines that never joined be deleted.
So whatever the rules have decided, the loop starts only what is listed here.

In an installation that observes, that is what tells people something, and the bookkeeping of
growth's own objects: nothing that another autoscaler, a person or a bill could notice. A pool that
observes in an installation that acts may have machines from before; their Nodes may still be
finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import PoolMode
from reconciler.core.actions import (
    NODES,
    CreateMachine,
    CreateNodeRecord,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    EmitEvent,
    Evict,
    OpenRemoval,
    PatchStatus,
    SetDeletionCost,
    SetFinalizers,
    SetNode,
    Solve,
    SubjectKind,
)

if TYPE_CHECKING:
    from reconciler.core.actions import Action, Sequence
    from reconciler.core.world import World


def is_left_out(sequence: Sequence, world: World) -> bool:
    """Whether a sequence isn't begun, because growth only observes."""
    if world.mode is PoolMode.OBSERVE:
        return any(_acts(step) for step in sequence.steps)
    pool = _pool_of(sequence, world)
    return world.only_observes(pool) and any(_changes_machines(step) for step in sequence.steps)


def _acts(step: Action) -> bool:
    """Whether a step does anything besides telling and bookkeeping."""
    match step:
        case PatchStatus() | SetFinalizers() | EmitEvent() | Solve():
            return False
        case Delete(kind=kind):
            return kind == NODES
        case SetNode() | CreateNodeRecord() | SetDeletionCost():
            return True
        case _:
            return _changes_machines(step)


def _changes_machines(step: Action) -> bool:
    match step:
        case CreateNodeRequest() | CreateMachine() | OpenRemoval() | DeleteMachine() | Evict():
            return True
        case Delete(kind=kind):
            return kind == NODES
        case _:
            return False


def _pool_of(sequence: Sequence, world: World) -> str:
    """The pool of the machine that a sequence is about; empty if it is about something else."""
    if sequence.subject.kind is not SubjectKind.MACHINE:
        return ""
    for step in sequence.steps:
        match step:
            case CreateNodeRequest(request=request):
                return request.spec.pool
            case CreateMachine(order=order):
                return order.pool
            case OpenRemoval(removal=removal):
                return removal.spec.pool
            case DeleteMachine(machine=machine):
                return machine.pool
            case _:
                continue
    name = sequence.subject.name
    known = world.removals.get(name) or world.requests.get(name) or world.records.get(name)
    return "" if known is None else known.spec.pool
