"""One pass: a world in, at most one sequence of actions for each Hvpa out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sizing.core.actions import TellStatus
from sizing.remembering import memory_in
from sizing.rule.applying import ApplyRules, StepReason
from sizing.rule.blocking import BlockReason
from sizing.rule.intervals import IntervalsInvalid
from sizing.rule.workload import size_pass
from sizing.spec import sizing_rules
from sizing.telling import decided_fields, memory_fields, seen_fields, status_with
from sizing.wording import (
    INTERVALS_INVALID,
    NO_SOURCE,
    OBSERVING,
    TARGET_NOT_FOUND,
    blocked_by,
)

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.hvpa import Hvpa
    from growth.api.hvpa_status import BlockedSize, HvpaStatus
    from sizing.core.actions import SizingSequence
    from sizing.core.world import HvpaInWorld, SightOfTarget, SizingWorld
    from sizing.rule.workload import SizingPass


def sizing_pass(world: SizingWorld, now: datetime) -> tuple[SizingSequence, ...]:
    """What to do now, for each Hvpa."""
    # Times in a status have whole seconds.
    now = now.replace(microsecond=0)
    sequences = (_sequence(each, now) for each in world.hvpas if each.is_current)
    return tuple(filter(None, sequences))


def _sequence(each: HvpaInWorld, now: datetime) -> SizingSequence:
    told = _told(each.hvpa, each.target, now)
    return () if told == each.hvpa.status else (TellStatus(each.hvpa, told),)


def _told(hvpa: Hvpa, target: SightOfTarget | None, now: datetime) -> HvpaStatus:
    if target is None:
        reference = hvpa.spec.target_ref
        message = f"there is no {reference.kind} {reference.name} in its namespace"
        return _hindered(hvpa, now, blocked_by(TARGET_NOT_FOUND, message=message))
    if not (hvpa.spec.hpa.deploy or hvpa.spec.vpa.deploy):
        return _hindered(hvpa, now, blocked_by(NO_SOURCE))
    try:
        return _sized(hvpa, target, now)
    except IntervalsInvalid as invalid:
        message = f"scalingIntervals[{invalid.place}]: {invalid.text}"
        return _hindered(hvpa, now, blocked_by(INTERVALS_INVALID, message=message))


def _hindered(hvpa: Hvpa, now: datetime, blocked: BlockedSize) -> HvpaStatus:
    return status_with(
        hvpa, now, blocked=blocked, desired=None, decided_by=None, sources=(), intervals=()
    )


def _sized(hvpa: Hvpa, target: SightOfTarget, now: datetime) -> HvpaStatus:
    rules = sizing_rules(hvpa.spec, target.containers)
    memory = replace(memory_in(hvpa.status), intent=None)
    passed = size_pass(rules, ApplyRules(), target.sight, memory, now)
    return status_with(
        hvpa,
        now,
        **seen_fields(target),
        **decided_fields(passed, rules.intervals),
        **memory_fields(hvpa, memory, target, _blocked(passed, target)),
    )


def _blocked(passed: SizingPass, target: SightOfTarget) -> BlockedSize | None:
    """Why nothing is changed; None if there is nothing to change."""
    decision = passed.decision
    if decision is None and not passed.next.steps and not target.sight.workload.pods:
        has_replicas = target.sight.workload.replicas > 0
        return blocked_by(StepReason.PODS_NOT_READY if has_replicas else BlockReason.REPLICAS_ZERO)
    if decision is not None and decision.blocked is not None:
        return blocked_by(decision.blocked.reason, until=decision.blocked.until)
    if passed.next.waits_for is not None:
        return blocked_by(passed.next.waits_for, until=passed.next.until)
    if not passed.next.steps:
        return None
    if target.others:
        return blocked_by(StepReason.OWNED_BY_OTHER, message="; ".join(target.others))
    return blocked_by(OBSERVING)
