"""The status of each pool, and how a deleted pool goes.

The status is computed from the current state, never counted up and down, and written only when it
changes. What others wait for is written at once: refused offers, blockages, learnt allocatable, and
conditions. Counts, and the reasons why nodes are kept, are updated at most once a second.

This rule is the last of a pass, so that the status shows what all other rules found in that pass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.conditions import joined_conditions
from growth.api.written import write_time
from growth.keeping.answer import PODS_AT_ONCE, keeping_answers
from reconciler.buying import blocking
from reconciler.core.actions import PatchStatus, Sequence, pool_subject, version_of
from reconciler.core.decision import NEVER, Decision, earliest
from reconciler.core.step import WAIT, Step
from reconciler.facts.currencies import currency_of_pool
from reconciler.facts.finalizers import has_our_finalizer, held, let_go
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.planning.unplaced import unplaced_by_pool
from reconciler.pools import (
    kept,
    learning,
    leaving,
    limits_reached,
    many_sick,
    not_sold,
    observing,
    paused,
    removal_held,
    several_currencies,
)
from reconciler.pools.counting import counted_machines, tallies
from reconciler.pools.ledger import PoolsLedger
from reconciler.pools.reasons_recorded import reasons_recorded
from reconciler.pools.refused import next_refusal_end
from reconciler.pools.scaling_events import scaling_events
from reconciler.pools.status import status_of_pool, written
from reconciler.pools.status_events import status_events
from reconciler.pools.unreadable import unreadable_notices
from reconciler.provisioning.look import ProvisioningLook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World

BETWEEN_COUNTS: Final = 1.0
"""Seconds between two counts at least."""
CONDITIONS: Final = (
    observing,
    paused,
    not_sold,
    limits_reached,
    removal_held,
    many_sick,
    several_currencies,
    leaving,
)
"""Each has `news`: the condition to write now, or None while the status is right."""

Figures = dict[str, dict[str, Any]]
"""Fields of the status that are counted, by pool."""


class PoolCount(NamedTuple):
    """The figures of all pools, and when to count again."""

    figures: Figures
    """Empty until it is time to count again."""
    wake_at: float
    """When the figures change by time alone."""
    remembered: PoolsLedger
    sequences: tuple[Sequence, ...] = ()
    """Writes of records."""


def decide(world: World, now: Instant) -> Decision[PoolsLedger]:
    """One step for each free pool, and a notice on each object that can't be decoded."""
    look = ProvisioningLook(
        world=world, now=now, memory=world.ledger.provisioning, clock=sighted_clock(world, now)
    )
    count = _count(world, look)
    sequences = list(unreadable_notices(world, now))
    for name, pool in sorted(world.pools.items()):
        subject = pool_subject(name)
        step = _step(pool, look, count.figures.get(name, {})) if world.is_free(subject) else WAIT
        if step.actions:
            sequences.append(Sequence(subject=subject, steps=step.actions, why=step.why))
    wakes = (wake for pool in world.pools.values() for wake in _wakes(pool, now))
    return Decision(
        section=count.remembered,
        sequences=(*sequences, *count.sequences),
        wake_at=min((count.wake_at, *wakes), default=NEVER),
    )


def _step(pool: NodePool, look: ProvisioningLook, figures: Mapping[str, Any]) -> Step:
    is_going = pool.metadata.deletion_timestamp is not None
    if is_going and not has_our_finalizer(pool):
        return WAIT
    if is_going and leaving.has_left(pool, look.world):
        return Step(actions=(let_go(pool),), why="the pool has nothing left to clean up")
    # Everything else waits for this write: without the finalizer a deleted pool would be gone at
    # once, with its machines running and no owner for their removals.
    if not has_our_finalizer(pool):
        return Step(actions=(held(pool),), why="the pool must not go before its machines")
    conditions = [each for each in _news(pool, look) if each is not None]
    return (
        _leaving(pool, look.world, conditions)
        if is_going
        else _status_step(pool, look, figures, conditions)
    )


def _news(pool: NodePool, look: ProvisioningLook) -> Iterator[Condition | None]:
    return (module.news(pool, look.world, look.now) for module in CONDITIONS)


def _leaving(pool: NodePool, world: World, conditions: list[Condition]) -> Step:
    """The status of a pool that is being deleted has no figures, only what it waits for."""
    if not conditions:
        return WAIT
    joined = joined_conditions(pool.status.conditions, *conditions)
    end = paused.pause_end(pool, world)
    status = {
        "conditions": [each.document() for each in joined],
        "pausedUntil": None if end is None else write_time(end),
    }
    patch = PatchStatus(kind=type(pool).__name__, version=version_of(pool), status=status)
    return Step(actions=(patch,), why=conditions[-1].message)


def _status_step(
    pool: NodePool,
    look: ProvisioningLook,
    figures: Mapping[str, Any],
    conditions: list[Condition],
) -> Step:
    status = status_of_pool(pool, look, figures, conditions)
    # Mostly it is the same object, and comparing the content of large statuses takes time.
    if status is pool.status or status == pool.status:
        return WAIT
    patch = PatchStatus(kind=type(pool).__name__, version=version_of(pool), status=written(status))
    why = "; ".join(each.message for each in conditions) or "the pool has changed"
    told = (*status_events(pool, status), *scaling_events(pool, status))
    return Step(actions=(patch, *told), why=why)


def _wakes(pool: NodePool, now: Instant) -> Iterator[float]:
    yield from next_refusal_end(pool, now)
    looks_again = blocking.next_unblocking(pool, now)
    if looks_again is not None:
        yield looks_again


def _count(world: World, look: ProvisioningLook) -> PoolCount:
    last = world.ledger.pools
    if last.counted_at is not None and look.now.monotonic < last.counted_at + BETWEEN_COUNTS:
        return PoolCount({}, last.counted_at + BETWEEN_COUNTS, last)
    known = keeping_answers(scene_of(world), look.now, before=last.occupants, most=PODS_AT_ONCE)
    if not known.is_complete:
        return PoolCount({}, look.now.monotonic, replace(last, occupants=known.occupants))
    told = reasons_recorded(known.keepings, world, look.now, between=BETWEEN_COUNTS)
    ends = (each.ends_at(look.now) for each in known.keepings.values())
    return PoolCount(
        figures=_figures(look, kept.kept_status(known.keepings, world.cluster.nodes, world.pools)),
        wake_at=min(told.wake_at, earliest(ends)),
        remembered=PoolsLedger(
            counted_at=look.now.monotonic,
            occupants=known.occupants,
            unrecorded=told.unrecorded,
        ),
        sequences=told.sequences,
    )


def _figures(look: ProvisioningLook, keepings: Mapping[str, Mapping[str, Any]]) -> Figures:
    world = look.world
    found = tallies(world)
    lacking = {each.pool: each for each in unplaced_by_pool(world, world.ledger.planning, look.now)}
    return {
        name: {
            **counted_machines(pool, found, currency=currency_of_pool(pool, world)),
            **keepings.get(name, kept.NONE),
            "learnt_allocatable": learning.learnt(pool, look.nodes.get(name, ()), world),
            "unplaced": lacking[name].unplaced,
            "unserved": lacking[name].unserved,
        }
        for name, pool in world.pools.items()
    }
