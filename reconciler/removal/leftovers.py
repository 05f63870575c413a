"""Nodes whose machine is gone: it failed, or was deleted outside growth.

Without a cloud controller, the Node object stays, and its pods with it. growth deletes the Node
only if two complete listings don't show the machine and its kubelet is silent. It first cordons the
node with its own mark, so that no pod is scheduled there in between. A node that a person has
cordoned is left alone.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.wellknown import CORDONED_ANNOTATION
from growth.foreign_text import time_or_none
from growth.kube.events.event import Severity
from reconciler.core.actions import Sequence, SetNode, machine, version_of
from reconciler.facts.listings import kubelet_reports
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.nodes import machine_id_of
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.requested import is_coming
from reconciler.removal import writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey

A_SECOND = timedelta(seconds=1)


def free_leftover(world: World, seen: Mapping[ClassKey, SightedCloud]) -> Iterator[Sequence]:
    """The next step for each node whose machine is gone."""
    if not seen:
        return
    for node in world.cluster.ordered_nodes:
        if kubelet_reports(node):
            continue
        pool = world.pools.get(pool_of_node(node))
        cloud = None if pool is None else seen.get(node_class_of(pool, world))
        # Nearly always its machine is shown, since most of them are booting.
        if cloud is not None and not _is_shown(node, cloud) and _is_settled(node.name, world):
            yield from _freed(node)


def _is_settled(name: str, world: World) -> bool:
    """Whether no other rule is responsible for the node because of a request or removal."""
    removal = world.removals.get(name)
    # A failed removal waits for a person; if its machine is gone all the same, it ends here.
    is_going = removal is not None and removal.status.phase is not RemovalPhase.REMOVAL_FAILED
    return not is_coming(name, world) and not is_going and world.is_free(machine(name))


def _is_shown(node: Node, cloud: SightedCloud) -> bool:
    """Whether one of the last two listings shows the machine, by its name or its id."""
    machine_id = machine_id_of(node, cloud.key)
    if cloud.before is None or machine_id in cloud.machines:
        return True
    if machine_id in cloud.before or _is_younger(node, cloud):
        return True
    shown = (*cloud.machines.values(), *cloud.before.values())
    return any(each.name == node.name for each in shown)


def _is_younger(node: Node, cloud: SightedCloud) -> bool:
    """Whether the node is younger than the listing, which then says nothing about its machine."""
    made_at = time_or_none(node.metadata.creation_timestamp)
    if made_at is None or cloud.began is None:
        return False
    # creationTimestamp is in whole seconds.
    return cloud.began <= made_at + A_SECOND


def _freed(node: Node) -> Iterator[Sequence]:
    is_cordoned = node.spec.unschedulable
    if is_cordoned and CORDONED_ANNOTATION not in node.metadata.annotations:
        return
    steps: tuple[Action, ...]
    if is_cordoned:
        steps = (writing.delete_node(node),)
    else:
        version = version_of(node)
        mark = {CORDONED_ANNOTATION: "machine-gone"}
        steps = (SetNode(node=version, annotations=mark, unschedulable=True), _said(node))
    why = "the machine of this node is gone, and growth did not delete it"
    yield Sequence(subject=machine(node.name), steps=steps, why=why)


def _said(node: Node) -> Action:
    return writing.said_of(
        node,
        reason="MachineGone",
        note="The provider no longer lists the machine of this node, and growth did not delete it: "
        "it failed, or someone deleted it. The node is deleted, and its pods are planned again.",
        severity=Severity.WARNING,
    )
