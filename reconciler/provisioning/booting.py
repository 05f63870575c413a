"""A request that is Provisioning: its machine boots and its node joins, or it fails.

    the node is Ready           it gets the pool's labels and taints, then the request is Ready
    the machine has failed      a removal is opened for it, then the request is Unmet, or
                                Deprovisioning if the provider has not refused anything
    the machine is gone         the request is Unmet, whatever the cause
    its time is over            a removal is opened for it, then the request is Deprovisioning

The time is counted on a clock that stops while growth is blind, from the moment at which this
process first sees the request: a change of the system clock has no effect. Only the time before
this process started is taken from the timestamps of the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.noderequest import RequestPhase, UnmetScope
from growth.api.removal_reason import RemovalReason
from growth.instant import just_after
from reconciler.core.actions import OpenRemoval
from reconciler.core.step import WAIT, Step
from reconciler.facts.nodes import node_of
from reconciler.facts.opening import removal_of
from reconciler.providers.port import MachineState
from reconciler.provisioning.evidence import machine_is_gone, machine_of_request
from reconciler.provisioning.joining import step_with_node
from reconciler.provisioning.pending import refused_request
from reconciler.provisioning.writing import delete_request, happened, moved, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.actions import PatchStatus
    from reconciler.providers.port import Machine
    from reconciler.provisioning.look import ProvisioningLook

REPLACED: Final = "The machine is given back and its pods are planned again"


def booting(request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> Step:
    """The next step for the machine of a request; none while it boots."""
    if pool.metadata.deletion_timestamp is not None:
        return Step(actions=(delete_request(request),), why="its pool is being deleted")
    node = node_of(request, look.world)
    if node is not None and node.is_ready:
        return step_with_node(request, pool, node, look)
    lost = _lost(request, pool, look, node)
    if lost.actions:
        return lost
    late = _late(request, pool, look, node)
    return late if node is None or late.actions else step_with_node(request, pool, node, look, late)


def _lost(request: NodeRequest, pool: NodePool, look: ProvisioningLook, node: Node | None) -> Step:
    listed = machine_of_request(request, look.world)
    if listed is not None and listed.state is MachineState.FAILED:
        return _failed(request, pool, look, listed)
    # A node that has joined contradicts such a listing: then only the timeout decides.
    is_alone = listed is None and node is None
    if is_alone and machine_is_gone(request, look.world, since=look.memory.seen[request.name].at):
        reason = "the machine disappeared before it served: it failed, or someone deleted it"
        return refused_request(request, look.now, reason=reason, scope=UnmetScope.OFFER)
    return WAIT


def _failed(request: NodeRequest, pool: NodePool, look: ProvisioningLook, listed: Machine) -> Step:
    """The removal is written first: an Unmet request no longer refers to its machine."""
    opening = tuple(_opened(request, pool, look, RemovalReason.CREATE_FAILED))
    reason = f"the machine failed: {listed.reason or 'the provider gave no reason'}"
    # Such a failure says nothing about sales: an edited label or a full network once marked a type
    # as sold out for all pools of the class.
    if listed.scope is None:
        note = f"Machine {listed.machine_id}: {reason}. {REPLACED}."
        said = warned(request, reason="MachineFailed", note=note)
        return Step(actions=(*opening, _unserved(request, look, reason), said), why=reason)
    unmet = refused_request(request, look.now, reason=reason, scope=listed.scope)
    return Step(actions=(*opening, *unmet.actions), why=unmet.why)


def _late(request: NodeRequest, pool: NodePool, look: ProvisioningLook, node: Node | None) -> Step:
    due = look.memory.seen[request.name].since + pool.spec.readiness_wait.seconds
    # While growth is blind, the node may have joined without being seen.
    if look.clock.now <= due or not look.clock.runs:
        return Step(wake_at=just_after(look.clock.wake_at(due)))
    what = "no node joined" if node is None else f"node {node.name} didn't become Ready"
    reason = f"{what} within {pool.spec.readiness_wait}"
    patch = _unserved(request, look, reason)
    opening = tuple(_opened(request, pool, look, RemovalReason.NEVER_JOINED))
    note = (
        f"Machine {request.status.node_id}: {reason}. {REPLACED}. Check its console while it "
        "exists: the usual causes are the network, the image, or no route to the API server. "
        "If the image is slow to boot, increase spec.readinessWait."
    )
    about = (request,) if node is None else (request, node)
    said = (warned(each, reason="NeverJoined", note=note) for each in about)
    return Step(actions=(*opening, patch, *said), why=reason)


def _unserved(request: NodeRequest, look: ProvisioningLook, reason: str) -> PatchStatus:
    """One failure refuses nothing yet; the offer is refused if the next machine fails too."""
    return moved(
        request,
        RequestPhase.DEPROVISIONING,
        look.now,
        happened=(happened("nodeNeverReady", look.now, reason=reason),),
    )


def _opened(
    request: NodeRequest, pool: NodePool, look: ProvisioningLook, reason: RemovalReason
) -> Iterator[OpenRemoval]:
    """A removal for its machine, if a listing shows one."""
    listed = machine_of_request(request, look.world)
    if listed is not None and request.name not in look.world.removals:
        yield OpenRemoval(removal=removal_of(listed, pool=pool, reason=reason))
