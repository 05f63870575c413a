"""The objects of a subject: which there are, in which versions, and all that could be blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from reconciler.core.actions import (
    Subject,
    SubjectKind,
    machine,
    node_class_subject,
    pod_subject,
    pool_subject,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.meta import CustomResource
    from reconciler.core.world import World


def objects_of(subject: Subject, world: World) -> Iterator[Node | Pod | CustomResource]:
    """The objects that the cache shows of a subject."""
    found: tuple[Node | Pod | CustomResource | None, ...] = ()
    match subject.kind:
        case SubjectKind.MACHINE:
            name = subject.name
            found = (world.cluster.nodes.get(name), world.requests.get(name))
            found = (*found, world.records.get(name), world.removals.get(name))
        case SubjectKind.POOL:
            found = (world.pools.get(subject.name),)
        case SubjectKind.NODE_CLASS:
            found = tuple(
                each
                for key, each in world.node_classes.items()
                if subject == node_class_subject(key)
            )
        case SubjectKind.POD:
            found = tuple(each for each in _pods(world) if each.name == subject.name)
        case _:
            return
    yield from (each for each in found if each is not None)


def versions_of(subject: Subject, world: World) -> tuple[str, ...]:
    """What changes with every write of its objects."""
    found = (each.metadata for each in objects_of(subject, world))
    return tuple(f"{each.uid}@{each.resource_version}" for each in found)


def subject_of_object(found: object) -> Subject | None:
    """The subject of an object; None for anything else."""
    match found:
        case Node() | NodeRequest() | NodeRecord() | NodeRemovalRequest():
            return machine(found.metadata.name)
        case NodePool():
            return pool_subject(found.name)
        case Pod():
            return pod_subject(found)
        case _:
            return None


def all_subjects(world: World) -> tuple[Subject, ...]:
    """Everything that could be blamed, in a stable order; pods, the most numerous, last."""
    ours = world.requests.keys() | world.records.keys() | world.removals.keys()
    return (
        *map(node_class_subject, sorted(world.node_classes)),
        *map(pool_subject, sorted(world.pools)),
        *map(machine, sorted(world.cluster.nodes.keys() | ours)),
        *sorted({pod_subject(pod) for pod in _pods(world)}),
    )


def _pods(world: World) -> Iterator[Pod]:
    yield from world.pending.values()
    for occupancy in world.cluster.occupancies.values():
        yield from occupancy.pods
