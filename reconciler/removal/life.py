"""The life of one NodeRemovalRequest, step by step.

    Pending         the node is drained, unless pods cancel the removal; then the provider is asked
                    to delete the machine, unless something prevents it; its answer decides
    Deprovisioning  the provider was asked; if the machine stays, it is asked again after a while
    RemovalFailed   a person has to look; growth does nothing more

The provider's answer stays in the World until the removal's status shows it. A machine is
identified by the id in the provider's listing, never by its name or by what its node says. A
removal that is cancelled or done is deleted first and loses its finalizer second; each pass works
out what is left to do, so it can be interrupted at any point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from growth.api.nodepool import ScaleDown
from growth.api.noderemovalrequest import RemovalPhase
from growth.instant import just_after
from growth.kube.events.event import ObjectReference, Severity
from reconciler.core.actions import DeleteMachine
from reconciler.core.step import WAIT, Step
from reconciler.facts.cordons import bears_our_cordon, uncordoned
from reconciler.facts.finalizers import has_our_finalizer, let_go
from reconciler.facts.listings import MachineFate, kubelet_reports
from reconciler.facts.marks import is_marked, unmarked
from reconciler.facts.wanted import keeper_on, promised, reason_to_stay
from reconciler.providers.port import DeleteAnswer, DeleteOutcome, Occupied
from reconciler.removal import writing
from reconciler.removal.drain import draining as drain
from reconciler.removal.drain import history as drain_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action, SetNode
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud


def removal_step(
    removal: NodeRemovalRequest,
    world: World,
    now: Instant,
    *,
    cloud: SightedCloud | None,
    waits_until: float,
) -> Step:
    """The next step for one removal; it may not begin before `waits_until`."""
    match removal.status.phase:
        case RemovalPhase.REMOVAL_FAILED:
            return _failed(removal)
        case RemovalPhase.PENDING | RemovalPhase.DEPROVISIONING:
            return _open(removal, world, now, cloud=cloud, waits_until=waits_until)
        case _:
            assert_never(removal.status.phase)


def _failed(removal: NodeRemovalRequest) -> Step:
    """Deleting the object retries the removal, so no finalizer may hold it. The taint stays."""
    if not has_our_finalizer(removal):
        return WAIT
    return Step(actions=(let_go(removal),), why="the removal has failed and needs a person")


def _open(
    removal: NodeRemovalRequest,
    world: World,
    now: Instant,
    *,
    cloud: SightedCloud | None,
    waits_until: float,
) -> Step:
    given = world.deletions.get(removal.name)
    if given is not None and isinstance(given.answer, DeleteAnswer) and _was_asked(given.answer):
        return _answered(removal, given.answer, now)
    if removal.status.phase is RemovalPhase.PENDING:
        if removal.metadata.deletion_timestamp is not None:
            return cancelled_removal(removal, world, why="it was cancelled")
        if kept := _kept_by(removal, world):
            return cancelled_removal(removal, world, why=kept)
    if cloud is None:
        return WAIT
    return _followed(removal, world, now, cloud=cloud, waits_until=waits_until)


def _followed(
    removal: NodeRemovalRequest,
    world: World,
    now: Instant,
    *,
    cloud: SightedCloud,
    waits_until: float,
) -> Step:
    """The next step, by what the cloud's listings show of the machine."""
    match cloud.fate(removal.spec.node_id, asked_at=removal.status.remove_attempted_at):
        case MachineFate.THERE:
            begins = max(waits_until, _rests_until(removal, world))
            return _still_there(removal, cloud, world, now, begins=begins)
        case MachineFate.GONE:
            return _gone(removal, world, now)
        case MachineFate.UNKNOWN:
            return WAIT
        case unknown:
            assert_never(unknown)


def cancelled_removal(removal: NodeRemovalRequest, world: World, *, why: str) -> Step:
    """The machine stays: the node's marks are removed, and the removal is deleted."""
    node = world.cluster.nodes.get(removal.spec.node_name)
    return Step(actions=(*_unmarked(node), *_ended(removal)), why=f"the removal ends: {why}")


def _ended(removal: NodeRemovalRequest) -> Iterator[Action]:
    """Deleted first: without its finalizer but not deleted, it would look like a new removal."""
    if removal.metadata.deletion_timestamp is None:
        yield writing.delete_removal(removal)
    elif has_our_finalizer(removal):
        yield let_go(removal)


def _unmarked(node: Node | None) -> Iterator[SetNode]:
    if node is not None and bears_our_cordon(node):
        yield uncordoned(node)
    elif node is not None and is_marked(node):
        yield unmarked(node)


def _kept_by(removal: NodeRemovalRequest, world: World) -> str:
    """Why the machine stays after all; empty if there is no reason.

    If the removal drains the node, its pods are no reason.
    """
    meaning = removal.spec.reason.meaning
    if meaning.drains:
        return ""
    given = world.deletions.get(removal.name)
    if given is not None and isinstance(given.answer, Occupied):
        # The last look asked the API server itself; the cache may not show these pods yet.
        return f"pod {given.answer.pods[0]} is on the node"
    node = world.cluster.nodes.get(removal.spec.node_name)
    if meaning.is_reusable and node is not None:
        return reason_to_stay(node, world, promised(world))
    kept = keeper_on(removal.spec.node_name, world)
    return f"pod {kept} is on the node" if kept else ""


def _was_asked(answer: DeleteAnswer) -> bool:
    """False if the provider only said how long to wait."""
    return answer.outcome is not DeleteOutcome.FAILED or not answer.seconds


def _rests_until(removal: NodeRemovalRequest, world: World) -> float:
    """When the wait after an attempt without effect ends, in monotonic seconds."""
    given = world.deletions.get(removal.name)
    match given and given.answer:
        case DeleteAnswer(seconds=seconds):
            return given.at + seconds if given else 0.0
        case Occupied():
            return given.at + world.timing.retry if given else 0.0
        case _:
            return 0.0


def _answered(removal: NodeRemovalRequest, answer: DeleteAnswer, now: Instant) -> Step:
    """Every attempt counts, even a failed one; otherwise the removal would never give up."""
    failed = answer.outcome is DeleteOutcome.FAILED
    event = writing.FAILED if failed else writing.REQUESTED
    phase = removal.status.phase if failed else RemovalPhase.DEPROVISIONING
    patch = writing.patched(
        removal,
        now,
        event=event,
        reason=answer.reason,
        phase=phase,
        removal_attempt=removal.status.removal_attempt + 1,
        remove_attempted_at=now.wall,
    )
    said = writing.said_of(
        removal,
        reason="DeletionFailed" if failed else "DeletionRequested",
        note=answer.reason or f"The provider is deleting machine {removal.spec.node_id}.",
        severity=Severity.WARNING if failed else Severity.NORMAL,
    )
    return Step(actions=(patch, said), why=f"the provider was asked: {answer.outcome}")


def _still_there(
    removal: NodeRemovalRequest, cloud: SightedCloud, world: World, now: Instant, *, begins: float
) -> Step:
    machine = cloud.machines[removal.spec.node_id]
    is_meant = machine.request_uid == removal.spec.request_uid
    if world.is_paused(removal.spec.pool) or not is_meant:
        # With another request uid it may be another machine, even with the same id.
        return WAIT
    if (drained := _drained(removal, world, now)) is not None:
        return drained
    rules = _rules(removal, world)
    begins = max(begins, _retry_at(removal, rules, now))
    if begins > now.monotonic:
        return Step(wake_at=begins)
    if kept := _kept_by(removal, world):
        return cancelled_removal(removal, world, why=kept)
    # What exceeds `attempts` ends the removal: with 5 there is a sixth call, and its wait.
    if removal.status.removal_attempt > rules.attempts:
        return _given_up(removal, world, now)
    ask = DeleteMachine(node_class=cloud.key, machine=machine)
    return Step(actions=(ask,), why=f"give the machine back: {removal.spec.reason}")


def _drained(removal: NodeRemovalRequest, world: World, now: Instant) -> Step | None:
    """The step of the drain that comes before the provider is asked; None if there is none."""
    node = world.cluster.nodes.get(removal.spec.node_name)
    if node is None or not removal.spec.reason.meaning.drains:
        return None
    if why := drain.drain_objection(removal, node, world, now):
        end = cancelled_removal(removal, world, why=why)
        told = drain_history.removal_given_up(removal, node, why=why)
        return Step(actions=(*told, *end.actions), why=end.why)
    return drain.drain_step(removal, node, world, now)


def _rules(removal: NodeRemovalRequest, world: World) -> ScaleDown:
    pool = world.pools.get(removal.spec.pool)
    return ScaleDown() if pool is None else pool.spec.scale_down


def _retry_at(removal: NodeRemovalRequest, rules: ScaleDown, now: Instant) -> float:
    """When the provider may be asked again, in monotonic seconds."""
    asked_at = removal.status.remove_attempted_at
    if asked_at is None:
        return 0.0
    left = now.left_of(rules.retry_after.seconds, since=asked_at)
    return just_after(now.monotonic + left) if left >= 0 else 0.0


def _given_up(removal: NodeRemovalRequest, world: World, now: Instant) -> Step:
    tries = removal.status.removal_attempt
    note = (
        f"The provider was asked {tries} times to delete machine {removal.spec.node_id}, but it "
        "still exists. Check it there, then delete this NodeRemovalRequest to try again."
    )
    patch = writing.patched(
        removal, now, event=writing.GAVE_UP, reason=note, phase=RemovalPhase.REMOVAL_FAILED
    )
    told = writing.said_of(removal, reason="RemovalFailed", note=note, severity=Severity.WARNING)
    name = removal.spec.node_name
    node = world.cluster.nodes.get(name)
    of_node = writing.said_of(
        # The Node may be gone. A kubelet writes a node's name as the uid in its events, too.
        node or ObjectReference(api_version="v1", kind="Node", name=name, uid=name),
        reason="RemovalFailed",
        note=note,
        severity=Severity.WARNING,
    )
    return Step(actions=(patch, told, of_node), why=f"the machine still exists after {tries} tries")


def _gone(removal: NodeRemovalRequest, world: World, now: Instant) -> Step:
    """The Node is deleted, unless it has pods: their owners have to see what happened."""
    node = world.cluster.nodes.get(removal.spec.node_name)
    if node is None:
        return Step(actions=tuple(_ended(removal)), why="the machine is gone")
    if drain.pods_to_drain(node, world, now):
        return cancelled_removal(
            removal, world, why="the machine is gone, but pods are on its node"
        )
    # Nobody asked for this delete, and a kubelet that reports speaks against the listings.
    if removal.status.remove_attempted_at is None and kubelet_reports(node):
        return WAIT
    return Step(actions=(writing.delete_node(node), *_ended(removal)), why="the machine is gone")
