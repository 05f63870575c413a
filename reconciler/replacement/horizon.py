"""How long a saving is likely to last: an hour, unless what was given back is bought again.

If the load rises and falls all the time, a machine that is given back now is bought again a moment
later, and its pods were moved for nothing. So a purchase after a removal, because of more pods than
before, is remembered: from then on a saving counts for about a minute, then for four, for fifteen,
and for a whole hour once the cluster has been calm for long enough. There are steps so that a
search that found nothing is repeated three times, and not every second.

A load that falls once and stays low isn't affected. Nor are purchases for pods that growth moved
itself: they say something about the plan, not about the load. The memory is lost with the process,
which then costs a few moved pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.core.decision import NEVER
from reconciler.replacement.worth import HORIZON

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World

CALM: Final = 16
"""A cluster is calm after this many times the quiet time of a node: four minutes. In three minutes
of a load that never rests, half as many moved twice the pods and saved nothing more, and half as
many again saved a twentieth less."""
STEPS: Final = 3
"""With each step the calm is half as long, and the saving counts for a quarter of the time."""
LONG_AGO: Final = float("-inf")


class Regret(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of the past, in monotonic seconds."""

    given_back: float = LONG_AGO
    """When a node was last on its way out for cost."""
    least: int = 0
    """The fewest pods wanted since the first such node, or since the last regret."""
    bought_again: float = LONG_AGO
    """When a machine was last bought after that because more pods were wanted."""


def regret(before: Regret, world: World, now: Instant) -> Regret:
    """The memory after one more pass."""
    is_begun = before.given_back > LONG_AGO
    least = min(before.least, world.wanted) if is_begun else world.wanted
    # Planning's purchases alone: replacement's own say something about its plans, not about the
    # load.
    bought = max((each.at for each in world.ledger.planning.bought.values()), default=LONG_AGO)
    is_new = bought > max(before.given_back, before.bought_again)
    is_again = is_begun and is_new and world.wanted > least
    is_saving = any(each.spec.reason.meaning.saves for each in world.removals.values())
    return Regret(
        given_back=now.monotonic if is_saving else before.given_back,
        least=world.wanted if is_again else least,
        bought_again=bought if is_again else before.bought_again,
    )


def horizon(known: Regret, world: World, now: Instant) -> tuple[float, float]:
    """The seconds for which a saving counts, and the monotonic second at which they increase."""
    calm, more = world.timing.quiet * CALM, NEVER
    for step in range(STEPS):
        calm_at = known.bought_again + calm / 2**step
        if now.monotonic >= calm_at:
            return HORIZON / 4**step, more
        more = calm_at
    return HORIZON / 4**STEPS, more
