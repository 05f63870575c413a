"""Demand becomes NodeRequests.

In each pass: what was promised is looked after, a plan that has come back is applied, and when a
wave of demand is complete (and no other question is open) the solver is asked. No demand is bought
for twice, whether its request is on its way to the API server, in the cache, at the provider or a
node that has just begun to serve; and no limit is exceeded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.core.decision import Decision, earliest
from reconciler.planning.asking import next_problem
from reconciler.planning.binding import after_limits
from reconciler.planning.creating import creations, for_pods
from reconciler.planning.demand import wanting
from reconciler.planning.reading import after_plan
from reconciler.planning.remembering import promises_looked_after
from reconciler.planning.reporting import report_tries
from reconciler.planning.waking import next_look

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger


def decide(world: World, now: Instant) -> Decision[PlanningLedger]:
    """The requests that a finished plan comes to, and the next question for the solver."""
    before, demand = world.ledger.planning, wanting(world)
    kept = promises_looked_after(world, now, demand)
    read = after_plan(_having(world, kept), now, demand)
    asked = next_problem(_having(world, read), now, demand)
    told = report_tries(kept.tries, asked.section, demand, world)
    ledger = after_limits(before, told.section, demand, world)
    world = _having(world, ledger)
    bought = creations(ledger.unconfirmed, world, purpose=for_pods)
    return Decision(
        section=ledger,
        sequences=(*bought, *asked.sequences, *told.sequences),
        wake_at=earliest((asked.wake_at, next_look(world, now, before))),
    )


def _having(world: World, ledger: PlanningLedger) -> World:
    return world.remembering(replace(world.ledger, planning=ledger))
