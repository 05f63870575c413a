"""One pass: a world in, at most one sequence of actions for each Hvpa out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from sizing.core.actions import TakeStep, TellStatus
from sizing.core.world import SizingMode
from sizing.refusals import refusal_text, standing_refusal, still_remembered, with_refusal
from sizing.remembering import memory_in
from sizing.rule.applying import ApplyRules, Fallback, StepReason
from sizing.rule.blocking import BlockReason
from sizing.rule.intervals import IntervalsInvalid
from sizing.rule.workload import size_pass
from sizing.spec import sizing_rules
from sizing.telling import (
    decided_fields,
    memory_fields,
    seen_fields,
    status_with,
    written_intervals,
)
from sizing.wording import (
    INTERVALS_INVALID,
    NO_SOURCE,
    OBSERVING,
    TARGET_NOT_FOUND,
    blocked_by,
)

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.hvpa import Hvpa, HvpaSpec
    from growth.api.hvpa_status import BlockedSize, HvpaStatus, IntervalInStatus
    from sizing.core.actions import SizingSequence
    from sizing.core.world import HvpaInWorld, SightOfTarget, SizingWorld
    from sizing.rule.sizing import SizingRules
    from sizing.rule.workload import SizingPass

IN_PLACE: Final = ApplyRules(fallback=Fallback.NONE)
"""No pod is evicted for its size: its successor would begin in the size of its template."""


def sizing_pass(world: SizingWorld, now: datetime) -> tuple[SizingSequence, ...]:
    """What to do now, for each Hvpa."""
    # Times in a status have whole seconds.
    now = now.replace(microsecond=0)
    sequences = (_sequence(each, world.mode, now) for each in world.hvpas if each.is_current)
    return tuple(filter(None, sequences))


class _Outcome(NamedTuple):
    """What is written down, and the steps that follow it."""

    status: HvpaStatus
    steps: tuple[TakeStep, ...] = ()


def _sequence(each: HvpaInWorld, mode: SizingMode, now: datetime) -> SizingSequence:
    """The status first: what was decided is written before anything is changed."""
    status, steps = _outcome(each.hvpa, each.target, mode, now)
    told = () if status == each.hvpa.status else (TellStatus(each.hvpa, status),)
    return (*told, *steps)


def _outcome(hvpa: Hvpa, target: SightOfTarget | None, mode: SizingMode, now: datetime) -> _Outcome:
    if target is None:
        reference = hvpa.spec.target_ref
        message = f"there is no {reference.kind} {reference.name} in its namespace"
        return _hindered(hvpa, now, blocked_by(TARGET_NOT_FOUND, message=message))
    if not (hvpa.spec.hpa.deploy or hvpa.spec.vpa.deploy):
        return _hindered(hvpa, now, blocked_by(NO_SOURCE))
    try:
        rules = _rules_in(hvpa.spec, target.containers)
    except IntervalsInvalid as invalid:
        message = f"scalingIntervals[{invalid.place}]: {invalid.text}"
        return _hindered(hvpa, now, blocked_by(INTERVALS_INVALID, message=message))
    if mode is SizingMode.APPLY and not target.others:
        return _applied(hvpa, target, rules, now)
    return _observed(hvpa, target, rules, now)


class _SpecRules(NamedTuple):
    """What follows from a spec alone."""

    rules: SizingRules
    intervals: tuple[IntervalInStatus, ...]


@lru_cache(maxsize=4096)
def _rules_in(spec: HvpaSpec, containers: tuple[str, ...]) -> _SpecRules:
    """Exact arithmetic on many intervals, which is the same until the spec changes."""
    rules = sizing_rules(spec, containers)
    return _SpecRules(rules, tuple(written_intervals(rules.intervals)))


def _hindered(hvpa: Hvpa, now: datetime, blocked: BlockedSize) -> _Outcome:
    nothing = {"desired": None, "decided_by": None, "sources": (), "intervals": (), "intent": None}
    return _Outcome(status_with(hvpa, now, blocked=blocked, **nothing))


def _observed(hvpa: Hvpa, target: SightOfTarget, rules: _SpecRules, now: datetime) -> _Outcome:
    """Decide, and do nothing. Only what the VPA said at a change of replicas is remembered."""
    memory = replace(memory_in(hvpa.status), intent=None)
    passed = size_pass(rules.rules, IN_PLACE, target.sight, memory, now)
    blocked = _blocked(passed, target)
    if blocked is None and passed.next.steps:
        blocked = _left_to_others(target)
    memory = replace(memory, changes=passed.memory.changes)
    return _Outcome(_status(hvpa, target, rules, replace(passed, memory=memory), blocked, now))


def _applied(hvpa: Hvpa, target: SightOfTarget, rules: _SpecRules, now: datetime) -> _Outcome:
    refused = standing_refusal(hvpa, now)
    target = replace(target, sight=with_refusal(target.sight, refused))
    passed = size_pass(rules.rules, IN_PLACE, target.sight, still_remembered(hvpa, refused), now)
    blocked = _blocked(passed, target)
    if refused is not None and blocked is not None and blocked.reason == refused.reason:
        blocked = blocked.model_copy(update={"message": refusal_text(refused)})
    status = _status(hvpa, target, rules, passed, blocked, now)
    size = passed.memory.intent
    steps = () if size is None else tuple(TakeStep(hvpa, s, size) for s in passed.next.steps)
    return _Outcome(status.model_copy(update={"refused": refused}), steps)


def _status(
    hvpa: Hvpa,
    target: SightOfTarget,
    rules: _SpecRules,
    passed: SizingPass,
    blocked: BlockedSize | None,
    now: datetime,
) -> HvpaStatus:
    return status_with(
        hvpa,
        now,
        **seen_fields(target),
        **decided_fields(passed),
        intervals=rules.intervals,
        **memory_fields(hvpa, passed.memory, target, blocked),
    )


def _blocked(passed: SizingPass, target: SightOfTarget) -> BlockedSize | None:
    """Why nothing is changed; None if there is nothing to change, or it is."""
    decision = passed.decision
    if decision is None and not target.sight.workload.pods:
        has_replicas = target.sight.workload.replicas > 0
        return blocked_by(StepReason.PODS_NOT_READY if has_replicas else BlockReason.REPLICAS_ZERO)
    if decision is not None and decision.blocked is not None:
        return blocked_by(decision.blocked.reason, until=decision.blocked.until)
    if passed.next.waits_for is not None:
        return blocked_by(passed.next.waits_for, until=passed.next.until)
    return None


def _left_to_others(target: SightOfTarget) -> BlockedSize:
    if target.others:
        return blocked_by(StepReason.OWNED_BY_OTHER, message="; ".join(target.others))
    return blocked_by(OBSERVING)
