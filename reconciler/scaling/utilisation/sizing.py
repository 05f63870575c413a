"""A run's decision as the size that planning and removal act on, and as what the status says."""

from __future__ import annotations

from collections import Counter
from math import isinf
from typing import TYPE_CHECKING

from growth.api.scaling_status import ScalingHold, ScalingStep
from growth.api.scaling_utilisation import EscalatorMarks
from growth.keeping.size import Floor, PoolSize
from growth.scheduling.resources import CPU, MEMORY
from reconciler.scaling.utilisation.deciding import RunReason
from reconciler.scaling.utilisation.looking import LOCK, group_options, locked_counts
from reconciler.scaling.utilisation.marks import ESCALATORS_MARKS
from reconciler.scaling.utilisation.nodes import node_classes_of
from reconciler.scaling.utilisation.saying import why_decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.written import ServerTypeName
    from reconciler.scaling.utilisation.bought import Purchase
    from reconciler.scaling.utilisation.deciding import Run
    from reconciler.scaling.utilisation.group import Group
    from reconciler.scaling.utilisation.looking import PoolLook
    from reconciler.scaling.utilisation.nodes import NodeClasses
    from reconciler.scaling.utilisation.percent import Share

STANDSTILL = frozenset({RunReason.LOCKED, RunReason.BLIND, RunReason.NO_CAPACITY})
"""Runs after which no node goes."""


def size_after(look: PoolLook, group: Group, run: Run, bought: Purchase) -> PoolSize:
    """The size that a run has decided."""
    classes = node_classes_of(group.nodes, group.remembered)
    apart = apart_after(classes, run)
    closed = apart - {each.name for each in classes.cordoned}
    sees = look.world.ledger.brakes.may_remove
    surplus = _surplus(group, classes, run, closed) if sees else frozenset()
    lock = None if look.only_observes else run.lock
    before, now = look.before or PoolSize(), look.now
    return PoolSize(
        floors=base_floors(look, _counts(look, run, bought, apart)),
        most=group.most,
        surplus=surplus,
        closed=closed,
        overdue=frozenset(run.drains) & surplus,
        at_once=frozenset(each.name for each in classes.forced),
        apart=apart,
        grace=look.fields.soft_delete_grace_period.seconds,
        mark_effect=look.fields.taint_effect.value,
        marks_of_others=_marks_of_others(look),
        step=_step(run),
        change=_change(run),
        reason=run.reason.value,
        why=why_decided(run, group),
        seen=_seen(classes, run),
        figures=tuple(_figures(group, classes, run)),
        holds=tuple(_holds(look, run, group)),
        scaled_up_at=before.scaled_up_at if lock is None else lock.since,
        scaled_down_at=now.wall if run.taints else before.scaled_down_at,
        wake_at=now.monotonic
        + (1.0 if lock or look.waiting else look.fields.scan_interval.seconds),
        decided_at=now.monotonic,
        looked_at=now.monotonic,
        generation=look.pool.metadata.generation,
    )


def apart_after(classes: NodeClasses, run: Run) -> frozenset[str]:
    """The nodes that take no pods after a run: tainted, forced and cordoned ones."""
    closed = (*classes.tainted, *classes.forced, *classes.cordoned)
    names = {each.name for each in closed} | set(run.taints)
    return frozenset(names - set(run.untaints))


def base_floors(look: PoolLook, counts: Mapping[ServerTypeName, int]) -> tuple[Floor, ...]:
    """The minimum of the pool and of each type, and machines that were asked for by type."""
    types = [entry.name for entry in look.pool.spec.server_types]
    least = {
        entry.name: max(entry.min, counts.get(entry.name, 0))
        for entry in look.pool.spec.server_types
    }
    every = group_options(look.pool, look.fields).min_nodes
    floors = [Floor(types=frozenset({name}), count=least[name]) for name in types if least[name]]
    return (*floors, *((Floor(types=frozenset(types), count=every),) if every else ()))


def _counts(
    look: PoolLook, run: Run, bought: Purchase, apart: frozenset[str]
) -> Mapping[ServerTypeName, int]:
    """What the lock waits for: what there is of each type that is bought, and what is bought."""
    if not bought.counts:
        return locked_counts(look) if run.lock is not None else {}
    have = Counter(each.server_type for name, each in look.machines.items() if name not in apart)
    return {name: have[name] + count for name, count in bought.counts.items()}


def _surplus(
    group: Group, classes: NodeClasses, run: Run, closed: frozenset[str]
) -> frozenset[str]:
    """Of the closed nodes, those that may go; in which order and when, their taints say."""
    if run.reason in STANDSTILL or run.delta > 0:
        return frozenset()
    free = {each.name for each in group.nodes if not each.is_protected}
    health = group.options.health
    if run.reason is RunReason.UNHEALTHY and health is not None:
        forced = {each.name for each in classes.forced}
        sick = {each.name for each in group.nodes if health.is_unhealthy(each, group.now)}
        free &= forced | sick
    return closed & free


def _marks_of_others(look: PoolLook) -> frozenset[str]:
    reads = look.fields.escalator_marks is EscalatorMarks.READ
    return frozenset(ESCALATORS_MARKS.taints) if reads else frozenset()


def _step(run: Run) -> ScalingStep:
    if run.buys or run.untaints:
        return ScalingStep.UP
    return ScalingStep.DOWN if run.taints else ScalingStep.NONE


def _change(run: Run) -> int:
    """While the lock is held, what it waits for: the next run reads it from here."""
    if run.reason is RunReason.LOCKED:
        return run.delta
    return run.buys + len(run.untaints) - len(run.taints)


def _seen(classes: NodeClasses, run: Run) -> tuple[tuple[str, int | str], ...]:
    percent = run.percent
    shares = (
        () if percent is None else (("cpuPercent", percent.cpu), ("memoryPercent", percent.memory))
    )
    return (
        *((name, _whole(share)) for name, share in shares),
        ("untainted", len(classes.untainted)),
        ("tainted", len(classes.tainted) + len(classes.forced)),
        ("cordoned", len(classes.cordoned)),
        ("delta", run.delta),
    )


def _figures(
    group: Group, classes: NodeClasses, run: Run
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    requests, capacity = group.demanded.requests, classes.capacity
    for of, amounts in (("requested", requests), ("capacity", capacity)):
        yield "growth_utilisation_cpu_cores", (of,), amounts[CPU] / 1000
        yield "growth_utilisation_memory_bytes", (of,), amounts[MEMORY]
    for name, nodes in classes._asdict().items():
        yield "growth_utilisation_nodes", (name,), len(nodes)
    yield "growth_scale_delta", (), run.delta
    for name, share in run.percent._asdict().items() if run.percent else ():
        yield "growth_utilisation_percent", (name,), float(share)


def _whole(share: Share) -> int | str:
    return "infinite" if isinf(share) else round(share)


def _holds(look: PoolLook, run: Run, group: Group) -> Iterator[ScalingHold]:
    times = group.options.lock_times
    if run.lock is not None and not look.only_observes:
        waits = "machines that were asked for" if not run.lock.is_confirmed else "its minimum time"
        yield ScalingHold(
            reason=LOCK, message=f"the scale lock waits for {waits}", until=run.lock.ends_at(times)
        )
    if run.reason is RunReason.UNHEALTHY:
        message = "too many of the newest nodes are unhealthy"
        yield ScalingHold(reason="Unhealthy", message=message)
    if run.problem:
        yield ScalingHold(reason="Limited", message=run.problem)
    if not look.world.ledger.brakes.may_remove:
        yield blind_hold(look)


def blind_hold(look: PoolLook) -> ScalingHold:
    """Nothing is tainted or given back because of what growth doesn't see."""
    message = f"growth doesn't see everything: {look.world.ledger.brakes.reason}"
    return ScalingHold(reason="Blind", message=message[:1024])
