"""Checks of steps that remove, move or mark: machines, nodes, and the pods on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import RequestPhase
from growth.keeping.marks import is_cordoned_by_a_person
from growth.scheduling.emptiness import left_on
from reconciler.core.actions import (
    CreateMachine,
    Delete,
    DeleteMachine,
    Evict,
    OpenRemoval,
    SetNode,
)
from reconciler.invariants.breach import Breach, Invariant
from reconciler.providers.port import ClassKey, MachineState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.providers.port import Listing, Machine, Order


def forbidden(step: Action, world: World, now: Instant) -> Iterator[Breach]:
    """The breaches that one step would cause."""
    match step:
        case CreateMachine(order=order):
            yield from _without_intent(order, world)
        case OpenRemoval(removal=removal):
            yield from _opened(removal, world)
        case DeleteMachine():
            yield from _deleted(step, world, now)
        case Delete(kind="nodes", version=version):
            yield from _freed(version.name, world)
        case Evict():
            yield from _evicted(step, world)
        case SetNode(node=version):
            node = world.cluster.nodes.get(version.name)
            if node is not None and step.unschedulable is not None:
                yield from _cordoned(node)
        case _:
            return


def _without_intent(order: Order, world: World) -> Iterator[Breach]:
    request = world.requests.get(order.name)
    if (
        request is None
        or request.metadata.uid != order.request_uid
        or request.status.phase is not RequestPhase.PENDING
    ):
        stands = "it doesn't exist" if request is None else f"it is {request.status.phase}"
        yield Breach(
            invariant=Invariant.INTENT_FIRST,
            text=f"machine {order.name} would be bought without a pending request: {stands}",
            pool=order.pool,
        )


def _opened(removal: NodeRemovalRequest, world: World) -> Iterator[Breach]:
    """An idle node is one that no pod needs and that no person has cordoned."""
    node = world.cluster.nodes.get(removal.spec.node_name)
    if not removal.spec.reason.meaning.is_reusable or node is None:
        return
    kept = world.cluster.occupancy(node.name).keepers
    if kept:
        yield _kept(node.name, kept, "it would be removed as idle", pool=removal.spec.pool)
    if is_cordoned_by_a_person(node):
        yield from _cordoned(node)


def _deleted(step: DeleteMachine, world: World, now: Instant) -> Iterator[Breach]:
    name, brakes = step.machine.name, world.ledger.brakes
    # Rooms ask for the clouds that are believed and get none then. This check doesn't rely on that.
    if not brakes.may_remove or not brakes.believes(step.node_class):
        text = f"machine {name} would be deleted while nothing may be removed: {brakes.reason}"
        yield Breach(invariant=Invariant.NEVER_BLIND, text=text, pool=step.machine.pool)
    removal = world.removals.get(name)
    if wrong := _misnamed(step, removal, world):
        text = f"machine {name} ({step.machine.machine_id}) would be deleted, but {wrong}"
        yield Breach(invariant=Invariant.DELETED_AS_NAMED, text=text, pool=step.machine.pool)
    node = world.cluster.nodes.get(name)
    kept = () if node is None else _left(node, removal, world, now)
    if kept:
        yield _kept(name, kept, "its machine would be deleted", pool=step.machine.pool)


def _misnamed(step: DeleteMachine, removal: NodeRemovalRequest | None, world: World) -> str:
    """The contradiction, or "" if removal, listing and step are about the same machine."""
    if removal is None:
        return "no removal names it"
    spec, meant = removal.spec, step.machine
    # The name isn't compared alone: a machine that is gone and a newer one can both have had it.
    if (spec.node_id, spec.request_uid) != (meant.machine_id, meant.request_uid):
        return f"its removal names {spec.node_id} of request {spec.request_uid}"
    if removal.status.phase is RemovalPhase.REMOVAL_FAILED:
        return "its removal has failed and needs a person"
    listed = _listed(meant.name, world)
    return "" if listed is not None and listed.machine_id == meant.machine_id else "it isn't listed"


def _listed(name: str, world: World) -> Machine | None:
    """A machine in the last listing of any cloud."""
    return _shown(name, (sight.listing for sight in world.clouds.values()))


def _listed_where_bought(name: str, world: World) -> Machine | None:
    """A machine in the last listing of its own node class.

    Classes of one project list each other's machines, each at its own time: an older listing of
    another class may still show what is gone.
    """
    record = world.records.get(name)
    reference = None if record is None else record.spec.node_class_ref
    own = reference and world.clouds.get(ClassKey(reference.kind, reference.name))
    return _shown(name, [own.listing]) if own and own.listing else _listed(name, world)


def _shown(name: str, listings: Iterable[Listing | None]) -> Machine | None:
    known = (each for each in listings if each is not None)
    return next((each.machines[name] for each in known if name in each.machines), None)


def _left(
    node: Node, removal: NodeRemovalRequest | None, world: World, now: Instant
) -> tuple[Pod, ...]:
    """The pods that would lose their node; a drain may give up those on a silent node."""
    kept = world.cluster.occupancy(node.name).keepers
    if removal is None or not removal.spec.reason.meaning.drains:
        return kept
    there = (pod for pod in kept if pod.spec.node_name == node.name)
    return left_on(there, now, node_is_ready=node.is_ready)


def _freed(name: str, world: World) -> Iterator[Breach]:
    """A Node may be deleted only when its machine is gone."""
    listed = _listed_where_bought(name, world)
    if listed is not None and listed.state is not MachineState.DELETING:
        yield Breach(
            invariant=Invariant.DELETED_AS_NAMED,
            text=f"node {name} would be deleted while its cloud lists {listed.machine_id}",
            pool=listed.pool,
        )


def _evicted(step: Evict, world: World) -> Iterator[Breach]:
    # By the removal that exists, not by the rule that evicts: an eviction is allowed only where the
    # intent is written.
    drained = [each for each in world.removals.values() if each.spec.reason.meaning.drains]
    nodes = (world.cluster.occupancy(each.spec.node_name) for each in drained)
    if not any(pod.metadata.uid == step.uid for node in nodes for pod in node.pods):
        text = f"pod {step.namespace}/{step.name} would be evicted, but its node isn't drained"
        yield Breach(invariant=Invariant.PODS_KEEP_NODES, text=text)
    if step.ends_within is not None and not any(_ends_pods(each, step, world) for each in drained):
        text = f"pod {step.namespace}/{step.name} would be deleted, but its drain has no end"
        yield Breach(invariant=Invariant.PODS_KEEP_NODES, text=text)


def _ends_pods(removal: NodeRemovalRequest, step: Evict, world: World) -> bool:
    """Whether the pod's pool limits the time of drains, and its node doesn't go to save money."""
    pool = world.pools.get(removal.spec.pool)
    is_limited = pool is not None and pool.spec.disruption.termination_grace_period is not None
    pods = world.cluster.occupancy(removal.spec.node_name).pods
    is_there = any(pod.metadata.uid == step.uid for pod in pods)
    return is_limited and is_there and not removal.spec.reason.meaning.saves


def _cordoned(node: Node) -> Iterator[Breach]:
    if is_cordoned_by_a_person(node):
        text = f"node {node.name} is cordoned by a person, but would be changed"
        yield Breach(invariant=Invariant.CORDON_KEPT, text=text)


def _kept(name: str, kept: tuple[Pod, ...], what: str, *, pool: str) -> Breach:
    more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
    text = f"node {name} has pod {kept[0].name}{more}, but {what}"
    return Breach(invariant=Invariant.PODS_KEEP_NODES, text=text, pool=pool)
