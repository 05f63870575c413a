"""When planning wants to be asked again though nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.decision import NEVER, earliest
from reconciler.facts.marks import is_tainted
from reconciler.facts.requested import HOUR, bought_lately
from reconciler.planning.nominations import next_nomination_end

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger


def next_look(world: World, now: Instant, before: PlanningLedger) -> float:
    """The first of all moments; `before` is the memory with which the pass began."""
    ledger = world.ledger.planning
    return earliest(
        (
            world.demand.next_end,
            next_nomination_end(ledger.nominated, world),
            ledger.refusals.next_probe(now),
            _next_try(ledger, now),
            _next_hour(world, now),
            _next_unmarking(world, now, before),
        )
    )


def _next_try(ledger: PlanningLedger, now: Instant) -> float:
    """When the next pod that waits takes part in a plan again."""
    moments = (each.returns_at(now.monotonic) for each in ledger.tries.values())
    return earliest(moment for moment in moments if moment is not None)


def _next_hour(world: World, now: Instant) -> float:
    """When the brake on machines an hour lets go of one, if a pod may wait for that."""
    if not world.ledger.planning.tries:
        return NEVER
    return earliest(each.at + HOUR for each in bought_lately(world, now).values())


def _next_unmarking(world: World, now: Instant, before: PlanningLedger) -> float:
    """At once, if a place on a marked node was promised, so that the mark is taken off."""
    # Removal does that, which comes before planning in a pass.
    places, nodes = world.ledger.planning.nominated.places, world.cluster.nodes
    known = before.nominated.places
    promised = (nodes.get(place.machine) for uid, place in places.items() if uid not in known)
    is_due = any(node is not None and is_tainted(node) for node in promised)
    return now.monotonic if is_due else NEVER
