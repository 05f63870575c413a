"""The conditions of growth's own objects that can't be decoded.

The API server accepts whatever the installed definitions allow, and these may be of another version
than this process. For every rule such an object doesn't exist, or is put aside if it stands for a
machine, so the object itself has to say so.
Its status is patched without knowing the rest of it. Its conditions are decoded separately, so that
the patch is written only once. When the object can be decoded again, its own rule overwrites these
conditions.
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
EFFECTS: Final = {
    NodeRequest.__name__: (
        "counts its machine as bought (if its spec can't be read, its pool buys nothing)"
    ),
    NodeRemovalRequest.__name__: "does nothing with its machine",
}
"""What follows for the kinds that stand for machines; all others are ignored."""


def unreadable_notices(world: World, now: Instant) -> Iterator[Sequence]:
    """A patch for each object that can't be decoded and doesn't say so yet."""
    for kind, found in sorted(world.unreadable.items()):
        for each in found:
            subject = _subject(kind, each.key.name)
            wanted = tuple(_wanted(each, now, kind=kind))
            if subject not in world.busy and not set(wanted) <= set(each.conditions):
                step = _patch(kind, each, wanted)
                yield Sequence(subject=subject, steps=(step,), why=f"{kind} can't be read")


def _subject(kind: str, name: str) -> Subject:
    if kind == NodePool.__name__:
        return pool_subject(name)
    if kind in {NodeRequest.__name__, NodeRemovalRequest.__name__}:
        return machine(name)
    return node_class_subject(ClassKey(kind, name))


def _wanted(found: Unreadable, now: Instant, *, kind: str) -> Iterator[Statement]:
    effect = EFFECTS.get(kind, "ignores it")
    before = {(each.type, each.status): each.last_transition_time for each in found.conditions}
    for name, truth in statements(ObjectStanding.FAILED):
        yield Statement(
            type=name,
            status=truth.value,
            reason=REASON,
            message=f"growth can't read this object and {effect}: {found.problem}. Fix it with "
            "kubectl edit; growth crds check shows whether the definitions match this version.",
            # With the time of this pass, each pass would write another patch.
            last_transition_time=before.get((name, truth.value)) or write_time(now.wall),
            observed_generation=found.generation,
        )


def _patch(kind: str, found: Unreadable, wanted: tuple[Statement, ...]) -> PatchStatus:
    types = {each.type for each in wanted}
    # A merge patch replaces the whole list, so the conditions of others are written again.
    others = (each for each in found.conditions if each.type not in types)
    conditions: list[Any] = [msgspec.to_builtins(each) for each in (*wanted, *others)]
    version = Version(name=found.key.name, uid=found.uid, resource_version=found.version)
    return PatchStatus(kind=kind, version=version, status={"conditions": conditions})
