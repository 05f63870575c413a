"""The memory brought up to this moment, before anything is decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.core.actions import machine
from reconciler.facts.requested import is_lost, still_of_the_hour
from reconciler.facts.swap_annotation import annotation
from reconciler.replacement.horizon import regret
from reconciler.replacement.stillness import stillness

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.replacement.ledger import ReplacementLedger


def swaps_looked_after(world: World, now: Instant) -> ReplacementLedger:
    """Forget what is over, and follow what has been seen."""
    before = world.ledger.replacement
    nodes = world.cluster.nodes
    return replace(
        before,
        still=stillness(before.still, world, now),
        regret=regret(before.regret, world, now),
        unconfirmed={n: each for n, each in before.unconfirmed.items() if _is_open(n, world, now)},
        bought=still_of_the_hour(before.bought, now),
        resting={
            name: until
            for name, until in before.resting.items()
            if name in nodes and until > now.monotonic
        },
        left_over={name: times for name, times in before.left_over.items() if name in nodes},
    )


def _is_open(name: str, world: World, now: Instant) -> bool:
    """Whether a request that was decided on is still to be written, as far as we see."""
    known = world.ledger.replacement
    decided, text = known.bought.get(name), annotation(known.unconfirmed[name])
    is_wanted = decided is not None and not is_lost(decided, now)
    is_tried = is_wanted and text not in known.given_up
    # A create that is on its way can't be called back, so it counts until it is answered.
    return name not in world.requests and (is_tried or not world.is_free(machine(name)))
