"""The next question for the solver: one at a time, and no sooner than its answer is of use.

A wave of demand is planned when it is complete. Where no pod waits for a plan, a probe finds out
whether an offer is back, and what pools keep without load is bought.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reconciler.buying.market import market
from reconciler.core.actions import Sequence, Solve, lane_subject
from reconciler.core.decision import Decision
from reconciler.facts.requested import all_requests
from reconciler.facts.sizes import size_of_pool
from reconciler.planning.capacity import ground
from reconciler.planning.commit import widened
from reconciler.planning.demand import (
    announced,
    pools_by_pod,
    to_be_planned,
    unjudged,
    without_place,
)
from reconciler.planning.followers import returning_followers
from reconciler.planning.ledger import AskedProblem
from reconciler.planning.probing import next_trial
from reconciler.planning.problem import planning_problem
from reconciler.planning.seats import kept_seats
from reconciler.planning.tries import PAUSE, LeftOutCause, after_left_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.buying.refusals import Probe
    from reconciler.core.world import World
    from reconciler.planning.commit import WaveWindow
    from reconciler.planning.ledger import PlanningLedger

LANE: Final = "demand"
NOTHING_SOLD: Final = "its pools have nothing that can be bought now"


class PlanningRound(NamedTuple):
    """The subject of one plan."""

    pods: Mapping[str, Pod]
    """The pods by UID."""
    sold: Market
    probe: Probe | None = None
    """The purpose of a probe, if the plan is for a single pod."""


def next_problem(world: World, now: Instant, demand: Mapping[str, Pod]) -> Decision[PlanningLedger]:
    """Ask the solver, when a wave of demand is complete, or a probe or a minimum is due."""
    before = world.ledger.planning
    waiting = without_place(demand, before.nominated)
    pods = to_be_planned(waiting, before.tries, now.monotonic)
    window = widened(before.window, pods, now.monotonic)
    ledger = replace(before, window=window)
    # Pods of an open question have no nomination yet: a second plan would buy for them again.
    if before.asked is not None or not world.is_free(lane_subject(LANE)):
        return Decision(section=ledger)
    if window is not None:
        return _wave(window, pods, ledger, world, now, waiting=waiting)
    trial = next_trial(waiting, world, now)
    if trial is None:
        return _minima(ledger, world, now)
    probed = PlanningRound({trial.pod.metadata.uid: trial.pod}, trial.sold, trial.probe)
    return _planned(probed, ledger, world, now)


def _wave(
    window: WaveWindow,
    pods: Mapping[str, Pod],
    ledger: PlanningLedger,
    world: World,
    now: Instant,
    *,
    waiting: Mapping[str, Pod],
) -> Decision[PlanningLedger]:
    closes = window.closes_at(unjudged(pods, world, now), asked_at=ledger.asked_at)
    if closes > now.monotonic:
        return Decision(section=ledger, wake_at=closes)
    followers = returning_followers(pods, waiting, world.cluster)
    whole = PlanningRound({**pods, **followers}, market(world, now))
    return _planned(whole, replace(ledger, window=None), world, now)


def _minima(ledger: PlanningLedger, world: World, now: Instant) -> Decision[PlanningLedger]:
    """Ask for what pools keep without load; not again and again where it can't be had."""
    if not any(size_of_pool(pool, world).floors for pool in world.pools.values()):
        return Decision(section=ledger)
    last = ledger.prewarmed_at
    due = now.monotonic if last is None else last + PAUSE
    sold = market(world, now)
    if not sold.minima():
        return Decision(section=ledger)
    if due > now.monotonic:
        return Decision(section=ledger, wake_at=due)
    ledger = replace(ledger, prewarmed_at=now.monotonic)
    return _planned(PlanningRound({}, sold), ledger, world, now)


def _planned(
    about: PlanningRound, ledger: PlanningLedger, world: World, now: Instant
) -> Decision[PlanningLedger]:
    """Leave out pods that can't be planned; the others are a question, if there are any."""
    pools, missing = pools_by_pod(about.pods, world)
    ledger = _left_out(ledger, missing, LeftOutCause.POOL_NOT_FOUND, now)
    if not about.sold.items:
        nothing = dict.fromkeys(pools, NOTHING_SOLD)
        return Decision(section=_left_out(ledger, nothing, LeftOutCause.NO_PLACE, now))
    if not pools and not about.sold.minima():
        return Decision(section=ledger)
    return _asked(about, pools, ledger, world, now)


def _asked(
    about: PlanningRound,
    pools: Mapping[str, frozenset[str]],
    ledger: PlanningLedger,
    world: World,
    now: Instant,
) -> Decision[PlanningLedger]:
    nominated, requests = ledger.nominated, all_requests(world)
    seats = kept_seats(announced(world, nominated, now), world, requests, nominated, now)
    # A probe asks for one machine for one pod, and a minimum for no pod: announced pods of a
    # workload would turn either into an ordinary purchase.
    more = seats.rest if pools and about.probe is None else ()
    asked = planning_problem(
        (about.pods[uid] for uid in pools),
        ground(world, requests, nominated, ledger.shelf.items, held=seats.held),
        about.sold,
        pools_of=pools,
        nominated=nominated,
        announced=more,
    )
    number = ledger.number + 1
    ledger = replace(
        ledger,
        number=number,
        asked=AskedProblem(number=number, question=asked, probe=about.probe),
        asked_at=now.monotonic,
    )
    solve = Solve(lane=LANE, number=number, problem=asked.problem)
    count = sum(each.number for each in more)
    why = f"plan {len(pools)} pods" + (f", {count} more to come" if count else "")
    sequence = Sequence(subject=lane_subject(LANE), steps=(solve,), why=why)
    return Decision(section=ledger, sequences=(sequence,))


def _left_out(
    ledger: PlanningLedger, reasons: Mapping[str, str], cause: LeftOutCause, now: Instant
) -> PlanningLedger:
    tries = ledger.tries
    more = {
        uid: after_left_out(tries.get(uid), now.monotonic, reason, cause=cause)
        for uid, reason in reasons.items()
    }
    return replace(ledger, tries={**tries, **more})
