"""One run of the policy: from a pool's nodes and requests to what is done about them.

The order is the seed's. Below the minimum, nodes are added at once. Then utilisation is computed,
and an error there ends the run. Then the lock: while it is held, nothing is done, neither up nor
down nor nothing. Only then the thresholds decide, and what may overrule them: a pod that fits
nowhere, an old node, more nodes than the maximum, and the health of the newest nodes.

Up: tainted nodes are used again first, the newest first; machines are bought for the rest, and only
then the lock closes. Down: tainted nodes whose time has come go first; then the oldest are tainted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from growth.errors import Misconfigured
from reconciler.scaling.utilisation.bounds import (
    increased_target,
    nodes_to_add,
    nodes_to_taint,
)
from reconciler.scaling.utilisation.grace import Fate, forced_fate
from reconciler.scaling.utilisation.lock import ScaleLock
from reconciler.scaling.utilisation.nodes import newest_first, node_classes_of, oldest_first
from reconciler.scaling.utilisation.percent import (
    Percent,
    ScaleAction,
    nodes_from_zero,
    nodes_missing,
    utilisation,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from reconciler.scaling.utilisation.group import Group
    from reconciler.scaling.utilisation.health import HealthCheck
    from reconciler.scaling.utilisation.nodes import GroupNode, NodeClasses


class RunReason(StrEnum):
    """Why a run has decided as it has, as one word."""

    BLIND = "Blind"
    NOTHING_THERE = "NothingThere"
    BELOW_MINIMUM = "BelowMinimum"
    NO_CAPACITY = "NoCapacity"
    LOCKED = "Locked"
    ABOVE_THRESHOLD = "AboveScaleUpThreshold"
    BELOW_UPPER = "BelowUpperThreshold"
    BELOW_LOWER = "BelowLowerThreshold"
    WITHIN_THRESHOLDS = "WithinThresholds"
    STARVED = "Starved"
    TOO_OLD = "NodeTooOld"
    ABOVE_MAXIMUM = "AboveMaximum"
    UNHEALTHY = "Unhealthy"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What one run has decided."""

    delta: int = 0
    """Nodes that are missing, or too many if negative."""
    reason: RunReason
    percent: Percent | None = None
    untaints: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()
    buys: int = 0
    goes: tuple[str, ...] = ()
    """Nodes that are given back now. They are empty."""
    drains: tuple[str, ...] = ()
    """Nodes whose pods are evicted, and which are then given back."""
    lock: ScaleLock | None = None
    """The lock after this run."""
    problem: str = ""
    """Why less was done than should be, for people."""


def run_once(group: Group) -> Run:
    """What is to be done now."""
    if group.unseen:
        return Run(reason=RunReason.BLIND, problem=f"unable to list {group.unseen}")
    if not group.nodes and not group.demanded.pods:
        return Run(reason=RunReason.NOTHING_THERE, lock=group.lock)
    sick = _sick(group)
    classes = _with_tainted(node_classes_of(group.nodes, group.remembered), sick)
    run = _decided(group, classes)
    return msgspec.structs.replace(run, taints=(*sick, *run.taints))


def raised_to_minimum(group: Group) -> Run:
    """What is to be done if even all nodes together are fewer than the minimum.

    Escalator calls that an error and waits for a person; growth adds the nodes.
    """
    classes = node_classes_of(group.nodes, group.remembered)
    short = group.options.min_nodes - len(classes.untainted)
    return _up(group, classes, Run(delta=max(0, short), reason=RunReason.BELOW_MINIMUM))


def _decided(group: Group, classes: NodeClasses) -> Run:
    if len(group.nodes) < group.options.min_nodes:
        problem = "node count less than the minimum"
        return Run(reason=RunReason.BELOW_MINIMUM, problem=problem, lock=group.lock)
    short = group.options.min_nodes - len(classes.untainted)
    if short > 0:
        return _up(group, classes, Run(delta=short, reason=RunReason.BELOW_MINIMUM))
    try:
        percent = utilisation(
            group.demanded.requests, classes.capacity, nodes=len(classes.untainted)
        )
        if (lock := _still_held(group)) is not None:
            return _locked(group, lock, percent)
        return _done(group, classes, _wanted(group, classes, percent))
    except Misconfigured as error:
        return Run(reason=RunReason.NO_CAPACITY, problem=str(error), lock=group.lock)


def _locked(group: Group, lock: ScaleLock, percent: Percent) -> Run:
    """Nothing is done, also in the run that finds what was asked for."""
    confirmed = lock.is_confirmed or group.arrived().confirm(lock.target)
    after = msgspec.structs.replace(lock, is_confirmed=confirmed)
    return Run(delta=lock.requested, reason=RunReason.LOCKED, percent=percent, lock=after)


def _wanted(group: Group, classes: NodeClasses, percent: Percent) -> Run:
    """How many nodes are missing or too many, before the health of the nodes is asked."""
    run = _by_thresholds(group, classes, percent)
    untainted = len(classes.untainted)
    if run.delta < 1 and _is_starved(group, classes):
        run = Run(delta=1, reason=RunReason.STARVED, percent=percent)
    if run.delta < 1 and _is_too_old(group, classes):
        run = Run(delta=1, reason=RunReason.TOO_OLD, percent=percent)
    excess = untainted - group.options.max_nodes
    if excess > 0 and run.delta > -excess:
        run = Run(delta=-excess, reason=RunReason.ABOVE_MAXIMUM, percent=percent)
    return run


def _by_thresholds(group: Group, classes: NodeClasses, percent: Percent) -> Run:
    options = group.options
    match options.thresholds.action(percent.larger):
        case ScaleAction.FAST_SCALE_DOWN:
            return Run(delta=-options.fast_rate, reason=RunReason.BELOW_LOWER, percent=percent)
        case ScaleAction.SLOW_SCALE_DOWN:
            return Run(delta=-options.slow_rate, reason=RunReason.BELOW_UPPER, percent=percent)
        case ScaleAction.SCALE_UP:
            missing = _missing(group, classes, percent)
            return Run(delta=missing, reason=RunReason.ABOVE_THRESHOLD, percent=percent)
        case ScaleAction.NONE:
            return Run(reason=RunReason.WITHIN_THRESHOLDS, percent=percent)


def _missing(group: Group, classes: NodeClasses, percent: Percent) -> int:
    threshold = group.options.thresholds.scale_up
    if not classes.untainted:
        requests = group.demanded.requests
        return nodes_from_zero(requests, group.known_size, threshold=threshold)
    return nodes_missing(len(classes.untainted), percent, threshold=threshold)


def _is_starved(group: Group, classes: NodeClasses) -> bool:
    """Whether another node may help a pod that fits nowhere."""
    options, untainted = group.options, classes.untainted
    return (
        options.scales_on_starve
        and len(untainted) < options.max_nodes
        and group.demanded.is_starved_on(untainted)
    )


def _is_too_old(group: Group, classes: NodeClasses) -> bool:
    """Whether the pool is at its minimum with an old node, which another one must replace."""
    most, untainted = group.options.max_age, classes.untainted
    if not most or not untainted or classes.tainted:
        return False
    is_least = len(untainted) == group.options.min_nodes
    return is_least and any(node.age(group.now) > most for node in untainted)


def _done(group: Group, classes: NodeClasses, run: Run) -> Run:
    """What is done for this difference, if the nodes are healthy enough to change anything."""
    gone = tuple(node.name for node in classes.forced if forced_fate(node) is Fate.GOES)
    run = msgspec.structs.replace(run, goes=gone)
    health = group.options.health
    if health is not None and not health.is_passed(group.nodes, group.now):
        unhealthy = [node for node in classes.tainted if health.is_unhealthy(node, group.now)]
        run = msgspec.structs.replace(run, delta=0, reason=RunReason.UNHEALTHY)
        return _reaped(group, unhealthy, run)
    if run.delta > 0:
        return _up(group, classes, run)
    run = _reaped(group, classes.tainted, run)
    return _down(group, classes, run) if run.delta < 0 else run


def _up(group: Group, classes: NodeClasses, run: Run) -> Run:
    health = group.options.health
    again = used_again(classes.tainted, number=run.delta, health=health, now=group.now)
    rest = run.delta - len(again)
    buys = nodes_to_add(rest, target=group.machines, most=group.most)
    problem = "" if buys or not rest else f"the pool may not have more than {group.most} machines"
    run = msgspec.structs.replace(run, untaints=again, buys=buys, problem=problem)
    if not buys:
        return msgspec.structs.replace(run, lock=_still_held(group))
    target = increased_target(group.machines, buys, most=group.most)
    lock = ScaleLock(since=group.now, requested=buys, target=target)
    return msgspec.structs.replace(run, lock=lock)


def _still_held(group: Group) -> ScaleLock | None:
    """The lock, unless it has opened; nodes below the minimum are added while it is held."""
    is_held = group.lock is not None and group.lock.is_held(group.now, group.options.lock_times)
    return group.lock if is_held else None


def used_again(
    tainted: Iterable[GroupNode], *, number: int, health: HealthCheck | None, now: datetime
) -> tuple[str, ...]:
    """The tainted nodes that are used again: the newest, but none that is known not to work."""
    usable = (
        node
        for node in newest_first(tainted)
        if health is None or not health.is_unhealthy(node, now)
    )
    return tuple(node.name for node in usable)[:number]


def _reaped(group: Group, tainted: Iterable[GroupNode], run: Run) -> Run:
    """With the tainted nodes whose time has come."""
    ordered = oldest_first(tainted)
    fates = {node.name: group.options.grace.fate(node, group.now) for node in ordered}
    room = max(0, group.machines - group.options.least - len(run.goes))
    due = [name for name, fate in fates.items() if fate is not Fate.STAYS][:room]
    goes = tuple(name for name in due if fates[name] is Fate.GOES)
    drains = tuple(name for name in due if fates[name] is Fate.IS_DRAINED)
    return msgspec.structs.replace(run, goes=(*run.goes, *goes), drains=drains)


def _down(group: Group, classes: NodeClasses, run: Run) -> Run:
    options = group.options
    try:
        number = nodes_to_taint(
            -run.delta,
            untainted=len(classes.untainted),
            min_nodes=options.min_nodes,
            target=group.machines - len(run.goes) - len(run.drains),
            least=options.least,
        )
    except Misconfigured as error:
        return msgspec.structs.replace(run, problem=str(error))
    oldest = oldest_first(classes.untainted)[:number]
    return msgspec.structs.replace(run, taints=tuple(node.name for node in oldest))


def _sick(group: Group) -> tuple[str, ...]:
    """Untainted nodes that are tainted because they never became Ready."""
    health = group.options.health
    if health is None:
        return ()
    untainted = node_classes_of(group.nodes, group.remembered).untainted
    return tuple(node.name for node in untainted if health.is_unhealthy(node, group.now))


def _with_tainted(classes: NodeClasses, names: Iterable[str]) -> NodeClasses:
    """The classes after these nodes are tainted."""
    moved = frozenset(names)
    if not moved:
        return classes
    stays = tuple(node for node in classes.untainted if node.name not in moved)
    tainted = tuple(node for node in classes.untainted if node.name in moved)
    return classes._replace(untainted=stays, tainted=(*classes.tainted, *tainted))
