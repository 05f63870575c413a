"""Which sequences may begin: of a subject that is put aside, only those that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.actions import only_tells

if TYPE_CHECKING:
    from reconciler.core.actions import Sequence
    from reconciler.core.world import World


def may_begin(sequence: Sequence, world: World) -> bool:
    """Whether nothing is at work on its subject, and the subject isn't put aside."""
    subject = sequence.subject
    return world.is_free(subject) or (subject not in world.busy and only_tells(sequence))
