"""What happens next with each NodeRequest.

    Pending         the provider is asked for a machine; its answer decides
    Provisioning    the machine boots and its node joins, or it is given up
    Ready, Unmet    the request has done its work and is deleted after its time to live
    Deprovisioning  the machine is given back, then the request is deleted

A request without a pool is deleted, and handled like one that a person deletes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from growth.api.noderequest import RequestPhase
from reconciler.core.actions import CreateMachine, HoldSeat, Sequence, machine
from reconciler.core.decision import Decision, earliest
from reconciler.core.step import WAIT, Step
from reconciler.facts.ownership import sees_all_pools
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.provisioning.booting import booting
from reconciler.provisioning.evidence import pool_of_request
from reconciler.provisioning.finished import finished
from reconciler.provisioning.holding import NEVER_HELD, hold_again
from reconciler.provisioning.leaving import cancelled_request, deprovisioned
from reconciler.provisioning.ledger import SeatsHeld
from reconciler.provisioning.left_behind import stripped
from reconciler.provisioning.look import ProvisioningLook
from reconciler.provisioning.memory import remembered_requests
from reconciler.provisioning.opening import remembered_openings
from reconciler.provisioning.pending import asked_of, step_while_pending
from reconciler.provisioning.together import spare
from reconciler.provisioning.writing import delete_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.provisioning.ledger import ProvisioningLedger


def decide(world: World, now: Instant) -> Decision[ProvisioningLedger]:
    """One step for each free request, and for nodes that a deleted pool retains."""
    clock = sighted_clock(world, now)
    look = ProvisioningLook(
        world=world, now=now, memory=remembered_requests(world, now, clock), clock=clock
    )
    steps = {
        name: _step(request, look)
        for name, request in sorted(world.requests.items())
        if world.is_free(machine(name))
    }
    begun = [name for name, step in steps.items() if step.actions]
    # Sequences begin in this order: of machines that open together, the one with most room first.
    begun.sort(key=lambda name: -spare(world.requests[name]))
    return Decision(
        section=_remembering(look, steps),
        sequences=(
            *(
                Sequence(subject=machine(name), steps=steps[name].actions, why=steps[name].why)
                for name in begun
            ),
            *stripped(world),
        ),
        wake_at=earliest(step.wake_at for step in steps.values()),
    )


def _remembering(look: ProvisioningLook, steps: Mapping[str, Step]) -> ProvisioningLedger:
    """Remembers what is asked for and which seats are held in this pass."""
    of, held = dict(look.memory.asked_of), dict(look.memory.held)
    for name, step in steps.items():
        if any(isinstance(action, CreateMachine) for action in step.actions):
            # The answers to creates will refer to these generations.
            of[name] = asked_of(look.world.pools[look.world.requests[name].spec.pool], look)
        if any(isinstance(action, HoldSeat) for action in step.actions):
            times = held.get(name, NEVER_HELD).times + 1
            held[name] = SeatsHeld(times=times, at=look.now.monotonic)
    return replace(look.memory, asked_of=of, held=held, openings=remembered_openings(look))


def _step(request: NodeRequest, look: ProvisioningLook) -> Step:
    pool = pool_of_request(request, look.world)
    is_going = request.metadata.deletion_timestamp is not None
    match request.status.phase:
        case RequestPhase.PENDING | RequestPhase.PROVISIONING if is_going:
            return cancelled_request(request, look)
        case RequestPhase.DEPROVISIONING:
            return deprovisioned(request, look)
        case _:
            return _owned(request, pool, look) if pool is not None else _ownerless(request, look)


def _owned(request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> Step:
    match request.status.phase:
        case RequestPhase.PENDING:
            return step_while_pending(request, pool, look)
        case RequestPhase.PROVISIONING:
            return booting(request, pool, look)
        case RequestPhase.READY:
            again = hold_again(request, look)
            return finished(request, pool, look.now) if again == WAIT else again
        case RequestPhase.UNMET:
            return finished(request, pool, look.now)
        case RequestPhase.DEPROVISIONING:
            return WAIT
        case _:
            assert_never(request.status.phase)


def _ownerless(request: NodeRequest, look: ProvisioningLook) -> Step:
    """A request without a pool is deleted, unless the pool may exist but can't be read."""
    if request.metadata.deletion_timestamp is not None:
        return cancelled_request(request, look)
    if not sees_all_pools(look.world):
        return WAIT
    return Step(actions=(delete_request(request),), why="it belongs to no pool")
