"""The plan that has come back: what it comes to in the world of now."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from reconciler.buying.market import market
from reconciler.core.actions import lane_subject
from reconciler.facts.requested import Bought, unconfirmed
from reconciler.planning.applying import apply_plan
from reconciler.planning.asking import LANE
from reconciler.planning.demand import without_place
from reconciler.planning.tries import LeftOutCause, after_left_out, after_overtaken
from reconciler.solver import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.planning.applying import Applied
    from reconciler.planning.ledger import AskedProblem, PlanningLedger
    from reconciler.planning.tries import Try


def after_plan(world: World, now: Instant, demand: Mapping[str, Pod]) -> PlanningLedger:
    """The memory with the requests and places of the plan that was asked for, if it is there."""
    ledger, solved = world.ledger.planning, world.plans.get(LANE)
    asked = ledger.asked
    if asked is None:
        return ledger
    if solved is None or solved.number != asked.number:
        # A question that ended without an answer is asked again; otherwise no pod would ever be
        # planned any more.
        return replace(ledger, asked=None) if world.is_free(lane_subject(LANE)) else ledger
    if not isinstance(solved.plan, Plan):
        raise TypeError(f"lane {LANE} answered another question: {solved.plan}")
    result = apply_plan(
        solved.plan,
        asked.question,
        world,
        waiting=without_place(demand, ledger.nominated),
        market=market(world, now),
        new_id=request_ids(world).__next__,
        now=now,
    )
    return _after(result, asked, world, now)


def request_ids(world: World) -> Iterator[UUID]:
    """Ids for the requests of one pass: the same each time that the pass is replayed."""
    chance = Random(world.seed)  # noqa: S311 - names have to be unlike, not secret
    # Replacement may buy in the same pass, and draws from the same seed.
    taken = unconfirmed(world)
    drawn = (UUID(int=chance.getrandbits(128), version=4) for _ in count())
    return (each for each in drawn if not any(name.endswith(str(each)) for name in taken))


def _after(result: Applied, asked: AskedProblem, world: World, now: Instant) -> PlanningLedger:
    ledger = world.ledger.planning
    # Counted from the decision on: a limit per hour has to hold before any cache shows the request.
    bought = {
        name: Bought(pool=request.spec.pool, at=now.monotonic)
        for name, request in result.requests.items()
    }
    ledger = replace(
        ledger,
        asked=None,
        unconfirmed={**ledger.unconfirmed, **result.requests},
        nominated=ledger.nominated.with_places(result.places),
        bought={**ledger.bought, **bought},
    )
    if asked.probe is None:
        return replace(ledger, tries=_tries_after(result, world, now.monotonic))
    # Pods in back-off stay there until the probe serves, also the one that it is bought for.
    if result.requests:
        return ledger
    return replace(ledger, refusals=ledger.refusals.probed_in_vain(asked.probe, now))


def _tries_after(result: Applied, world: World, now: float) -> Mapping[str, Try]:
    before = world.ledger.planning.tries
    left = {uid: each for uid, each in before.items() if uid not in result.places}
    left |= {uid: after_overtaken(left.get(uid), now) for uid in result.overtaken}
    return left | {
        uid: after_left_out(
            left.get(uid),
            now,
            reason,
            cause=LeftOutCause.LIMITED if uid in result.limited else LeftOutCause.NO_PLACE,
            limit=result.limited.get(uid),
            looks_at_others=uid in world.pending and world.pending[uid].looks_at_others,
        )
        for uid, reason in result.left_out.items()
    }
