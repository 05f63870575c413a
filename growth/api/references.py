"""References between objects of one set of files: a pool's class and what the class sells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodeclass import NodeClass
from growth.api.nodepool import NodePool
from growth.api.problems import DocumentProblem
from growth.api.wellknown import DEFAULT_NODE_CLASS
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from growth.api.files import Manifests, Mistake
    from growth.api.written import ServerTypeName


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
                    near = [name for kind, name in present if kind == wanted[0]]
                    yield found.mistake(_missing(*wanted, near=near))
            case _:
                continue


def types_not_sold(manifests: Manifests) -> Iterator[Mistake]:
    """Types that a pool names and its class doesn't have, if the class lists them in the files."""
    for found, pool in manifests.resources:
        if not isinstance(pool, NodePool):
            continue
        own = _class_of(pool, manifests)
        if own is None or own.own_types is None:
            continue
        sold = set(own.own_types)
        for index, entry in enumerate(pool.spec.server_types):
            if entry.name not in sold:
                path = ("spec", "serverTypes", index, "name")
                text = not_sold(entry.name, sold, node_class=own.name)
                yield found.mistake(DocumentProblem(path=path, text=text))


def not_sold(name: ServerTypeName, sold: Iterable[ServerTypeName], *, node_class: str) -> str:
    """The message about a type that a class doesn't have, in files and in a cluster."""
    hint = did_you_mean(str(name), map(str, sold))
    return f"{name} isn't sold by class {node_class}{hint and f' ({hint})'}"


def _class_of(pool: NodePool, manifests: Manifests) -> NodeClass | None:
    """The pool's class, if it is in the files and unambiguous."""
    reference = pool.spec.node_class_ref
    name = DEFAULT_NODE_CLASS if reference is None else reference.name
    of_its_name = [
        each
        for _, each in manifests.resources
        if isinstance(each, NodeClass)
        and each.name == name
        and (reference is None or each.kind == reference.kind)
    ]
    return of_its_name[0] if len({each.kind for each in of_its_name}) == 1 else None


def _missing(kind: str, name: str, *, near: Iterable[str]) -> DocumentProblem:
    mend = did_you_mean(name, near) or (
        'add its file, or remove nodeClassRef to use the class called "default"'
    )
    return DocumentProblem(
        path=("spec", "nodeClassRef", "name"), text=f'no {kind} "{name}"; {mend}'
    )
