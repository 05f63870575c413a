"""What happens next with each removal, idle node, orphan, and node without a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase
from reconciler.core.actions import Sequence, machine
from reconciler.core.decision import NEVER, Decision, earliest
from reconciler.facts.listings import cloud_of, clouds
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.removal import idle, leftovers, life
from reconciler.removal.another_writer import began_at, requested_since
from reconciler.removal.drain import cordons
from reconciler.removal.drain import deleted_pools as drain_pools
from reconciler.removal.drain.draining import Draining
from reconciler.removal.drain.evicting import evictions
from reconciler.removal.drain.surplus import steps_for_surplus
from reconciler.removal.orphans import ages, is_for_orphan, orphans, removals_of_orphans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from reconciler.core.step import Step
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.providers.port import ClassKey
    from reconciler.removal.ledger import RemovalLedger
    from reconciler.removal.orphans import Orphans


def decide(world: World, now: Instant) -> Decision[RemovalLedger]:
    """One step for each machine that is free for one."""
    requested = replace(world.ledger.removal, requested=requested_since(world))
    world = world.remembering(replace(world.ledger, removal=requested))
    clock, seen = sighted_clock(world, now), clouds(world)
    found = {key: orphans(cloud, world, now) for key, cloud in seen.items()}
    ledger = _remembered(world, found, now=now, clock=clock).at(clock)
    world = world.remembering(replace(world.ledger, removal=ledger))
    # Only the first sequence of a subject is begun, so the most important rule comes first: an idle
    # node may also have lost its pool or its machine.
    steps = (
        *_steps(world, now, seen=seen, found=found, clock=clock),
        *drain_pools.steps_for_leaving_pools(world, seen),
        *steps_for_surplus(world, now, seen),
        *cordons.marks_left_behind(world, clock),
        *idle.steps_for_idle_nodes(world, now, seen=seen, clock=clock),
    )
    sequences = (
        Sequence(subject=machine(name), steps=step.actions, why=step.why)
        for name, step in steps
        if step.actions
    )
    drained = [step for _, step in steps if isinstance(step, Draining)]
    moved, rested = evictions(
        # Of all draining nodes together, as pods may share a budget.
        (pod for step in drained for pod in step.pods),
        world,
        now,
        ending={uid: grace for step in drained for uid, grace in step.ending.items()},
    )
    opening = (
        each
        for key, many in found.items()
        for each in removals_of_orphans(many, seen[key], world, clock)
    )
    return Decision(
        section=ledger,
        sequences=(*leftovers.free_leftover(world, seen), *sequences, *moved, *opening),
        wake_at=earliest((rested, *(step.wake_at for _, step in steps))),
    )


def _remembered(
    world: World, found: Mapping[ClassKey, Orphans], *, now: Instant, clock: SightedClock
) -> RemovalLedger:
    ends = idle.ends(world, now, clock)
    crowds = {key: lost.sudden if lost.are_too_many else 0 for key, lost in found.items()}
    before = replace(
        world.ledger.removal,
        ends=ends,
        crowds=crowds,
        others={key: lost.others for key, lost in found.items()},
        began=began_at(world, now),
    )
    if not clock.runs:
        return before
    known = {
        name: since
        for lost in found.values()
        for name, since in ages(world, lost, now=now, clock=clock).items()
    }
    return replace(before, orphans=known)


def _steps(
    world: World,
    now: Instant,
    *,
    seen: Mapping[ClassKey, SightedCloud],
    found: Mapping[ClassKey, Orphans],
    clock: SightedClock,
) -> Iterator[tuple[str, Step]]:
    for name, removal in sorted(world.removals.items()):
        if not world.is_free(machine(name)):
            continue
        cloud = cloud_of(removal, world, seen)
        if is_for_orphan(removal) and cloud is not None:
            yield (
                name,
                _orphan(removal, world, now, cloud=cloud, lost=found[cloud.key], clock=clock),
            )
        else:
            yield name, life.removal_step(removal, world, now, cloud=cloud, waits_until=0.0)


def _orphan(
    removal: NodeRemovalRequest,
    world: World,
    now: Instant,
    *,
    cloud: SightedCloud,
    lost: Orphans,
    clock: SightedClock,
) -> Step:
    """The removal ends if an object for the machine appears, and waits until it is old enough."""
    # Once the provider was asked, no object can save the machine any more.
    is_pending = removal.status.phase is RemovalPhase.PENDING
    if is_pending and removal.name not in lost.found and removal.spec.node_id in cloud.machines:
        return life.cancelled_removal(removal, world, why="the machine isn't an orphan")
    since = world.ledger.removal.orphans.get(removal.name, clock.now)
    due = clock.wake_at(since + world.timing.orphan_age)
    # A listing from after the wait has to show the machine still.
    is_confirmed = due <= cloud.listing.at.monotonic and not lost.are_held
    waits_until = due if due > now.monotonic or is_confirmed else NEVER
    return life.removal_step(
        removal, world, now, cloud=cloud, waits_until=waits_until if is_pending else 0.0
    )
