"""What `growth plan` is given: manifests become the world that is planned for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api import references
from growth.api.files import Mistakes
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.problems import Problem
from growth.cli import inputs
from growth.errors import Misconfigured
from growth.scheduling.expansion import expanded
from growth.scheduling.pod import Pod
from reconciler.planning.offline import world_of
from reconciler.providers.kwok.catalogue import offerings
from reconciler.providers.port import ClassKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from growth.api.files import FileObject, Manifests
    from growth.scheduling.cluster import Object
    from reconciler.world import World


def world_from(names: Sequence[str]) -> World:
    """The world that the files describe, or all that is wrong with them."""
    manifests = inputs.read(inputs.texts(names))
    mistakes = list(references.missing_node_classes(manifests))
    objects: list[Object] = []
    for found in manifests.others:
        try:
            objects += _judged(found.body)
        except (msgspec.ValidationError, ValueError) as error:
            mistakes.append(found.mistake(_problem(error)))
    if mistakes:
        raise inputs.refusal(Mistakes(mistakes))
    return _world(manifests, objects)


def _judged(document: dict[str, Any]) -> Iterator[Object]:
    """The objects, each looked at as the plan will: an amount that can't be read shows here."""
    for each in expanded(document):
        if isinstance(each, Pod):
            _ = each.shape
        yield each


def _problem(error: Exception) -> Problem:
    text, _, where = str(error).partition(" - at `$")
    steps = where.rstrip("`").replace("[...]", "").strip(".").split(".") if where else []
    return Problem(path=tuple(step for step in steps if step), text=text)


def _world(manifests: Manifests, objects: Sequence[Object]) -> World:
    pools = [one for _, one in manifests.resources if isinstance(one, NodePool)]
    classes = {
        ClassKey("KwokNodeClass", one.name): one
        for _, one in manifests.resources
        if isinstance(one, KwokNodeClass)
    }
    if not pools:
        raise Misconfigured(_nothing_to_buy("NodePool", manifests.others))
    if not classes:
        raise Misconfigured(_nothing_to_buy("KwokNodeClass with types and prices", ()))
    return world_of(
        objects,
        pools=pools,
        node_classes=dict(classes),
        offerings={key: offerings(one) for key, one in classes.items()},
    )


def _nothing_to_buy(missing: str, others: Sequence[FileObject]) -> str:
    seen = f"{len(others)} other objects are there, but " if others else ""
    return f"{seen}no {missing} is in the files: add one by another -f (docs/examples/kwok)"
