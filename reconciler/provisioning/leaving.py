"""The end of a request whose machine isn't wanted, or never served.

    Deprovisioning   the machine didn't serve in time: a removal is opened, the request is deleted
    deleted by hand  the purchase is cancelled, whatever its phase

In both cases the removal is created first, then the finalizer is removed, then the object deleted,
so that an object always refers to a machine that may exist. If listings show that there is no
machine, no removal is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.removal_reason import RemovalReason
from reconciler.core.actions import OpenRemoval
from reconciler.core.step import WAIT, Step
from reconciler.facts.finalizers import has_our_finalizer, let_go
from reconciler.facts.opening import removal_of
from reconciler.provisioning.evidence import machine_is_gone, machine_of_request, pool_of_request
from reconciler.provisioning.writing import delete_request

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from reconciler.provisioning.look import ProvisioningLook


def deprovisioned(request: NodeRequest, look: ProvisioningLook) -> Step:
    """First the removal is opened, then the finalizer removed, then the request deleted."""
    if has_our_finalizer(request):
        return _released(request, look)
    return Step(actions=(delete_request(request),), why="its machine is given back")


def cancelled_request(request: NodeRequest, look: ProvisioningLook) -> Step:
    """The request is being deleted: a machine it may have bought is given back first."""
    return _released(request, look) if has_our_finalizer(request) else WAIT


def _released(request: NodeRequest, look: ProvisioningLook) -> Step:
    world = look.world
    if request.name in world.removals:
        return Step(actions=(let_go(request),), why="its machine is being given back")
    pool = pool_of_request(request, world)
    if pool is None:
        # Without a pool, a removal would have no owner; the machine is found as an orphan later.
        return Step(actions=(let_go(request),), why="it belongs to no pool")
    listed = machine_of_request(request, world)
    if listed is not None:
        removal = removal_of(listed, pool=pool, reason=RemovalReason.NEVER_JOINED)
        return Step(actions=(OpenRemoval(removal=removal),), why="its machine is given back")
    if machine_is_gone(request, world, since=_last_moment(request, look)):
        return Step(actions=(let_go(request),), why="no listing shows its machine")
    return WAIT


def _last_moment(request: NodeRequest, look: ProvisioningLook) -> float:
    """The last time at which its machine may have been created; in this phase none is ordered."""
    answered = look.world.answers.get(request.name)
    seen = look.memory.seen[request.name].at
    return seen if answered is None else max(seen, answered.at)
