"""One look at what growth would do; at most one each second, and a question for the solver."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.buying.market import market
from reconciler.core.actions import Sequence, Solve, lane_subject
from reconciler.core.decision import Decision
from reconciler.facts.requested import Bought, still_of_the_hour
from reconciler.observing.counting import time_counted, with_deeds
from reconciler.observing.ledger import (
    LANE,
    AskedObservation,
    ObservingLedger,
    ShadowMachine,
)
from reconciler.observing.scene import is_for_observer, scene_without_others
from reconciler.observing.seating import due_for_return, marked_when_idle, next_return, still_seated
from reconciler.observing.writing import (
    machines_in_status,
    status_of_observation,
    tally_in_status,
)
from reconciler.planning.applying import apply_plan
from reconciler.planning.capacity import ground
from reconciler.planning.demand import pools_by_pod
from reconciler.planning.problem import planning_problem
from reconciler.planning.reading import request_ids
from reconciler.solver import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.observing.scene import ShadowScene

BETWEEN_LOOKS: Final = 1.0
"""Seconds. Pods that appear within them are planned together."""
AT_REST: Final = 30.0
"""Seconds between two looks at most, so that costs are added to the right hour."""
BETWEEN_WRITES: Final = 60.0
"""Seconds between two writes of the status, unless a machine comes or goes."""
LEFT_OUT: Final = 60.0
"""Seconds until a pod without a place is planned again."""


def decide(world: World, now: Instant) -> Decision[ObservingLedger]:
    """What growth would have, a look later."""
    pools = {name: pool for name, pool in sorted(world.pools.items()) if world.only_observes(name)}
    before = world.ledger.observing
    if not pools:
        return Decision(section=ObservingLedger() if before.tallies else before)
    # While growth can't see, pods may have gone, and so nothing is counted.
    if not world.ledger.brakes.may_remove:
        return Decision(section=replace(before, looked_at=None))
    ledger = _resumed(before, pools, now)
    if not _is_due(ledger, world, now):
        return Decision(section=ledger, wake_at=(ledger.looked_at or 0.0) + BETWEEN_LOOKS)
    return _looked(ledger, pools, world, now)


def _resumed(
    ledger: ObservingLedger, pools: Mapping[str, NodePool], now: Instant
) -> ObservingLedger:
    """With what the status of a pool says, for a pool that is seen for the first time."""
    if ledger.tallies.keys() == pools.keys():
        return ledger
    new = [pool for name, pool in pools.items() if name not in ledger.tallies]
    known = {each.request.name: each for pool in new for each in machines_in_status(pool, now)}
    machines = {
        name: each
        for name, each in {**known, **ledger.machines}.items()
        if each.request.spec.pool in pools
    }
    tallies = {**ledger.tallies, **{pool.name: tally_in_status(pool, now) for pool in new}}
    return replace(
        ledger,
        machines=machines,
        tallies={name: each for name, each in tallies.items() if name in pools},
    )


def _is_due(ledger: ObservingLedger, world: World, now: Instant) -> bool:
    last = ledger.looked_at
    return (
        last is None or now.monotonic >= last + BETWEEN_LOOKS or _answer(ledger, world) is not None
    )


def _answer(ledger: ObservingLedger, world: World) -> Plan | None:
    solved = world.plans.get(LANE)
    if ledger.asked is None or solved is None or solved.number != ledger.asked.number:
        return None
    if not isinstance(solved.plan, Plan):
        raise TypeError(f"lane {LANE} answered another question: {solved.plan}")
    return solved.plan


def _looked(
    ledger: ObservingLedger, pools: Mapping[str, NodePool], world: World, now: Instant
) -> Decision[ObservingLedger]:
    scene = scene_without_others(world, ledger, pools)
    ledger = replace(
        ledger,
        tallies=time_counted(ledger, scene.others, world, now),
        others=frozenset(scene.others),
        looked_at=now.monotonic,
        freed=scene.freed,
        shelf=scene.world.ledger.planning.shelf,
        bought=still_of_the_hour(ledger.bought, now),
        seats=still_seated(ledger.seats, scene.world),
    )
    ledger = _after_plan(ledger, scene, world, now)
    ledger = _without_idle(ledger, scene, now)
    decision = _asked(ledger, scene, world, now)
    ledger = _written(decision.section, pools, world, now)
    wake_at = min(now.monotonic + AT_REST, next_return(ledger.machines, scene.world, now))
    return Decision(section=ledger, sequences=decision.sequences, wake_at=wake_at).waking(
        decision.wake_at
    )


def _after_plan(
    ledger: ObservingLedger, scene: ShadowScene, world: World, now: Instant
) -> ObservingLedger:
    """With the machines and seats of the plan that has come back."""
    plan = _answer(ledger, world)
    if plan is None or ledger.asked is None:
        return ledger
    shadow = _shadow(ledger, scene)
    result = apply_plan(
        plan,
        ledger.asked.question,
        shadow,
        waiting=_unseated(ledger, scene),
        market=market(shadow, now),
        new_id=request_ids(world).__next__,
        now=now,
    )
    new = {
        name: ShadowMachine(request=request, bought_at=now.wall)
        for name, request in result.requests.items()
    }
    bought = {
        name: Bought(pool=each.request.spec.pool, at=now.monotonic) for name, each in new.items()
    }
    later = dict.fromkeys(result.left_out, now.monotonic + LEFT_OUT)
    return replace(
        ledger,
        asked=None,
        machines={**ledger.machines, **new},
        bought={**ledger.bought, **bought},
        seats=ledger.seats.with_places(result.places),
        left_out={**ledger.left_out, **later},
        tallies=with_deeds(ledger.tallies, now, bought=new.values(), given_back=()),
        written_at=None if new else ledger.written_at,
    )


def _without_idle(ledger: ObservingLedger, scene: ShadowScene, now: Instant) -> ObservingLedger:
    """Without the machines that would be given back now."""
    # A plan that is being made may have a use for each of them.
    if ledger.asked is not None:
        return ledger
    machines = marked_when_idle(ledger.machines, ledger.seats, scene.world, now)
    going = due_for_return(machines, scene.world, now)
    gone = [machines[name] for name in sorted(going)]
    return replace(
        ledger,
        machines={name: each for name, each in machines.items() if name not in going},
        tallies=with_deeds(ledger.tallies, now, bought=(), given_back=gone),
        written_at=None if gone else ledger.written_at,
    )


def _asked(
    ledger: ObservingLedger, scene: ShadowScene, world: World, now: Instant
) -> Decision[ObservingLedger]:
    """Ask the solver, once no more pods have appeared since the last look."""
    unseated = _unseated(ledger, scene)
    left_out = {
        uid: at for uid, at in ledger.left_out.items() if uid in unseated and at > now.monotonic
    }
    waiting = {
        uid: pod
        for uid, pod in unseated.items()
        if uid not in left_out and is_for_observer(pod, world)
    }
    seen, names = ledger.waiting, frozenset(waiting)
    ledger = replace(ledger, left_out=left_out, waiting=names)
    shadow = _shadow(ledger, scene)
    sold = market(shadow, now)
    is_short = bool(sold.minima()) and ledger.minima_at <= now.monotonic
    if ledger.asked is not None or not (waiting or is_short):
        return Decision(section=ledger)
    if names - seen or not world.is_free(lane_subject(LANE)) or not sold.items:
        return Decision(section=ledger, wake_at=now.monotonic + BETWEEN_LOOKS)
    planning = shadow.ledger.planning
    pools, _ = pools_by_pod(waiting, shadow)
    question = planning_problem(
        (waiting[uid] for uid in pools),
        ground(shadow, shadow.requests, planning.nominated, planning.shelf.items),
        sold,
        pools_of=pools,
        nominated=planning.nominated,
    )
    number = ledger.number + 1
    solve = Solve(lane=LANE, number=number, problem=question.problem)
    why = f"what would be bought for {len(pools)} pods"
    return Decision(
        section=replace(
            ledger,
            number=number,
            asked=AskedObservation(number=number, question=question),
            minima_at=now.monotonic + LEFT_OUT,
        ),
        sequences=(Sequence(subject=lane_subject(LANE), steps=(solve,), why=why),),
    )


def _shadow(ledger: ObservingLedger, scene: ShadowScene) -> World:
    """The scene's world with the seats and machines of now."""
    world = scene.world
    planning = replace(world.ledger.planning, nominated=ledger.seats, bought=ledger.bought)
    return _with_machines(world, ledger).remembering(replace(world.ledger, planning=planning))


def _with_machines(world: World, ledger: ObservingLedger) -> World:
    requests = {name: each.request for name, each in ledger.machines.items()}
    return msgspec.structs.replace(world, requests=requests)


def _unseated(ledger: ObservingLedger, scene: ShadowScene) -> dict[str, Pod]:
    places = ledger.seats.places
    return {uid: pod for uid, pod in scene.wanting.items() if uid not in places}


def _written(
    ledger: ObservingLedger, pools: Mapping[str, NodePool], world: World, now: Instant
) -> ObservingLedger:
    """With a new status of each pool, if it is time for one."""
    last = ledger.written_at
    if last is not None and now.monotonic < last + BETWEEN_WRITES:
        return ledger
    unplaced = len(ledger.left_out)
    written = {
        name: status_of_observation(pool, ledger, world, now, unplaced=unplaced)
        for name, pool in pools.items()
    }
    return replace(ledger, written=written, written_at=now.monotonic)
