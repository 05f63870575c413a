"""Nodes whose machine is gone: somebody else took it, or it died.

The Node object stays where no cloud controller takes it away, and its pods with it. Two witnesses
are needed before it is freed: two complete listings that don't show the machine, and a kubelet that
is silent. It is cordoned first, with our mark, so that nothing more is sent there in between; a
node that a person has cordoned is theirs.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.wellknown import CORDONED_ANNOTATION
from growth.api.written import parse_time
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
    """The next step with each node whose machine is gone."""
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
    """Whether no other rule has a say in it: its request, its removal."""
    removal = world.removals.get(name)
    # One that has failed waits for a person; that the machine ended all the same ends it, too.
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
    """Whether a listing is older than the node: then it says nothing of its machine."""
    try:
        made_at = parse_time(node.metadata.creation_timestamp or "")
    except ValueError:
        return False
    # Creation is told in whole seconds.
    return cloud.began is not None and cloud.began <= made_at + A_SECOND


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
    why = "the machine of this node is gone, by somebody else or by itself"
    yield Sequence(subject=machine(node.name), steps=steps, why=why)


def _said(node: Node) -> Action:
    return writing.said_of(
        node,
        reason="MachineGone",
        note="The provider doesn't list the machine of this node any more, and growth did not "
        "delete it: it died, or somebody else removed it. The node is deleted; what its pods need "
        "is bought anew.",
        severity=Severity.WARNING,
    )
