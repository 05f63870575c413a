"""Which node goes for which: found by a search, proven by demand's own rules, written in objects.

One thing at a time: a question, or a swap. Nothing is begun while demand has no place or anything
is on its way, since whatever is found then is wrong a moment later; a swap that has begun goes on.
What has to go (a sick node, then one that has drifted) comes before what would only be cheaper.

    search    which set of nodes could go, and what for?     all candidates, as they are
    proof     do the pods of exactly these find a place?     a world without those nodes
    swap      requests that name the old nodes               the rest lies in objects
    confirm   is that still so, now that the new ones serve?
    removal   one for each old node; its drain is removal's work
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.decision import Decision, earliest
from reconciler.replacement.choosing import next_question
from reconciler.replacement.going_on import machines_left_behind, next_wait_end
from reconciler.replacement.mending import mended
from reconciler.replacement.reading import after_solve
from reconciler.replacement.scene import scene_at
from reconciler.replacement.writing import swap_creations

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.replacement.ledger import ReplacementLedger


def decide(world: World, now: Instant) -> Decision[ReplacementLedger]:
    """The next step of every swap, and the next question."""
    begun = scene_at(world, now)
    read = after_solve(begun)
    scene = begun.having(read.section)
    asked = next_question(scene)
    return Decision(
        section=asked.section,
        sequences=(
            *read.sequences,
            *swap_creations(scene.world),
            *machines_left_behind(scene.ledger, scene.world),
            *asked.sequences,
            *mended(scene.world),
        ),
        wake_at=earliest(
            (begun.wake_at, read.wake_at, asked.wake_at, next_wait_end(asked.section, now))
        ),
    )
