"""What objects of ours say that can't be read: that they can't, and what is wrong with them.

The API server takes what its definition lets through, and definitions may be of another version
than we are. Such an object is as good as not there for every rule, which people have to see where
they look: on the object itself. Its status is patched without knowing the rest of it; what its
conditions say already is read apart, so it is written once. As soon as the object can be read, its
own rule writes these conditions anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.conditions import ObjectStanding, statements
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.written import write_time
from growth.kube.cache.contents import Statement
from reconciler.core.actions import (
    PatchStatus,
    Sequence,
    Subject,
    Version,
    machine,
    node_class_subject,
    pool_subject,
)
from reconciler.providers.port import ClassKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.instant import Instant
    from growth.kube.cache.contents import Unreadable
    from reconciler.core.world import World

REASON: Final = "Unreadable"


def unreadable_notices(world: World, now: Instant) -> Iterator[Sequence]:
    """The status of each object that can't be read and doesn't say so."""
    for kind, found in sorted(world.unreadable.items()):
        for each in found:
            subject = _subject(kind, each.key.name)
            wanted = tuple(_wanted(each, now))
            if world.is_free(subject) and not set(wanted) <= set(each.conditions):
                step = _patch(kind, each, wanted)
                yield Sequence(subject=subject, steps=(step,), why=f"{kind} can't be read")


def _subject(kind: str, name: str) -> Subject:
    if kind == NodePool.__name__:
        return pool_subject(name)
    if kind in {NodeRequest.__name__, NodeRemovalRequest.__name__}:
        return machine(name)
    return node_class_subject(ClassKey(kind, name))


def _wanted(found: Unreadable, now: Instant) -> Iterator[Statement]:
    before = {(each.type, each.status): each.last_transition_time for each in found.conditions}
    for name, truth in statements(ObjectStanding.FAILED):
        yield Statement(
            type=name,
            status=truth.value,
            reason=REASON,
            message=f"It can't be read, and counts as not there: {found.problem}. Mend it with "
            "kubectl edit; growth crds check tells whether the definitions are of this version.",
            last_transition_time=before.get((name, truth.value)) or write_time(now.wall),
            observed_generation=found.generation,
        )


def _patch(kind: str, found: Unreadable, wanted: tuple[Statement, ...]) -> PatchStatus:
    types = {each.type for each in wanted}
    others = (each for each in found.conditions if each.type not in types)
    conditions: list[Any] = [msgspec.to_builtins(each) for each in (*wanted, *others)]
    version = Version(name=found.key.name, uid=found.uid, resource_version=found.version)
    return PatchStatus(kind=kind, version=version, status={"conditions": conditions})
