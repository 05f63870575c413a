"""References between objects of one set of files: a pool's node class has to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import NodePool
from growth.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from growth.api.files import Manifests, Mistake


def missing_node_classes(
    manifests: Manifests, *, known: Collection[tuple[str, str]] = ()
) -> Iterator[Mistake]:
    """Pools that name a node class which is neither in the files nor among the known ones."""
    present = {(found.kind, found.name) for found, _ in manifests.resources} | set(known)
    for found, resource in manifests.resources:
        match resource:
            case NodePool(spec=spec) if spec.node_class_ref is not None:
                wanted = (str(spec.node_class_ref.kind), spec.node_class_ref.name)
                if wanted not in present:
                    yield found.mistake(_missing(*wanted))
            case _:
                continue


def _missing(kind: str, name: str) -> Problem:
    return Problem(
        path=("spec", "nodeClassRef", "name"),
        text=f'there is no {kind} "{name}"; give its file too, '
        'or leave nodeClassRef out to use the class called "default"',
    )
