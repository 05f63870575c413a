"""One pass over one workload: what is seen and what is remembered becomes the next steps.

A decision is made only where nothing is on its way: in the middle of a change, the number of
replicas is already the new one and some pods still have the old size, so totals would be wrong.
What was decided is remembered until it is reached or has taken too long.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from growth.api.hvpa import UpdateMode
from growth.scheduling.resources import MEMORY
from sizing.rule.amounts import rounded_up
from sizing.rule.applying import REACHED, NextSteps, is_reached, next_steps
from sizing.rule.blocking import Block, BlockReason, Occasion
from sizing.rule.evidence import CountChange, evidence_of, reason_to_doubt
from sizing.rule.sizing import (
    PresentSize,
    Recommendation,
    SizeSource,
    WorkloadSize,
    size_of_workload,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sizing.rule.amounts import Sized, Sizes
    from sizing.rule.applying import ApplyRules, SizedWorkload
    from sizing.rule.sizing import Rounded, SizeDecision, SizingRules

PATIENCE: Final = timedelta(hours=2)
"""How long a decision is pursued. After that, what there is counts, and it is decided again."""
SETTLING: Final = timedelta(minutes=1)
"""How long an HPA still tells what it measured before a change: its own interval, and metrics'."""


@dataclass(frozen=True, kw_only=True)
class VpaReading:
    """What a VerticalPodAutoscaler says."""

    targets: Sizes = field(default_factory=dict)
    """Of one pod."""
    conditions: Mapping[str, str] = field(default_factory=dict)
    samples: int | None = None
    doubt: str | None = None
    """Why it isn't believed, whatever it says itself."""


@dataclass(frozen=True, kw_only=True)
class HpaReading:
    """What a HorizontalPodAutoscaler says."""

    totals: Sizes = field(default_factory=dict)
    doubt: str | None = None


@dataclass(frozen=True, kw_only=True)
class SizingSight:
    """What is seen of a workload and its sources. A source that isn't deployed is None."""

    workload: SizedWorkload
    vpa: VpaReading | None = None
    hpa: HpaReading | None = None
    used: Sizes = field(default_factory=dict)
    """The measured use of all pods together."""
    peaks: Sizes = field(default_factory=dict)
    """The measured use of the pod that uses most."""
    has_run_out: bool = False
    throttled: frozenset[Sized] = frozenset()


@dataclass(frozen=True, kw_only=True)
class SizingMemory:
    """What is remembered of a workload. It survives a restart."""

    intent: WorkloadSize | None = None
    """What was decided and isn't reached yet."""
    last_scaled: datetime | None = None
    settled: datetime | None = None
    """When the last decision was reached."""
    size: WorkloadSize | None = None
    """What was last decided. New pods begin in the size of their template, which says less."""
    replicas: int = 0
    """How many there were at the last look; 0 if nobody has looked yet."""
    held: Sizes = field(default_factory=dict)
    changes: Mapping[Sized, CountChange] = field(default_factory=dict)
    """The last change of replicas, while it explains what the VPA says."""


@dataclass(frozen=True, kw_only=True)
class SizingPass:
    """What one pass comes to."""

    memory: SizingMemory
    next: NextSteps
    decision: SizeDecision | None = None
    """None while an earlier decision is on its way."""
    said: tuple[Recommendation, ...] = ()
    """What the sources say, as it was decided on."""


def size_pass(
    sizing: SizingRules,
    applying: ApplyRules,
    sight: SizingSight,
    memory: SizingMemory,
    now: datetime,
) -> SizingPass:
    """What is to be done now, and remembered for the next pass."""
    passed = _passed(sizing, applying, sight, memory, now)
    memory = replace(passed.memory, replicas=sight.workload.replicas)
    return replace(passed, memory=memory)


def _passed(
    sizing: SizingRules,
    applying: ApplyRules,
    sight: SizingSight,
    memory: SizingMemory,
    now: datetime,
) -> SizingPass:
    intent = memory.intent
    if intent is None:
        return _decided(sizing, applying, sight, memory, now)
    if is_reached(sight.workload, intent):
        memory = replace(memory, intent=None, settled=now)
    elif _is_pursued(sight, memory, now):
        steps = next_steps(sight.workload, intent, applying, now)
        return SizingPass(memory=memory, next=steps)
    return _decided(sizing, applying, sight, replace(memory, intent=None), now)


def _is_pursued(sight: SizingSight, memory: SizingMemory, now: datetime) -> bool:
    """Whether what was decided is still wanted. Who sets no replicas wants to be left alone."""
    is_recent = memory.last_scaled is not None and now - memory.last_scaled < PATIENCE
    return is_recent and sight.workload.replicas > 0


def _decided(
    sizing: SizingRules,
    applying: ApplyRules,
    sight: SizingSight,
    memory: SizingMemory,
    now: datetime,
) -> SizingPass:
    present = _present(sight, memory)
    if present is None:
        return SizingPass(memory=memory, next=REACHED)
    memory = replace(memory, changes=_with_changes_of_others(sight, memory))
    memory = replace(memory, changes=dict(_still_stale(sight, memory)))
    said = tuple(_recommendations(sight, memory, now))
    decision = size_of_workload(sizing, present, said, _occasion(sight, memory, now))
    memory = replace(memory, held=decision.held)
    is_complete = is_reached(sight.workload, decision.size)
    if is_complete or _is_left_alone(decision, sizing):
        decision = decision if is_complete else _by_policy(decision)
        return SizingPass(memory=memory, next=REACHED, decision=decision, said=said)
    steps = next_steps(sight.workload, decision.size, applying, now)
    if steps.steps:
        memory = _remembering(memory, sight, decision.size, said, now)
    return SizingPass(memory=memory, next=steps, decision=decision, said=said)


def _by_policy(decision: SizeDecision) -> SizeDecision:
    """The same with the reason why pods that have less aren't resized."""
    block = decision.blocked or Block(reason=BlockReason.UPDATE_POLICY)
    return replace(decision, blocked=block)


def _is_left_alone(decision: SizeDecision, sizing: SizingRules) -> bool:
    """Whether even pods that have less than the others stay as they are."""
    reason = decision.blocked.reason if decision.blocked else None
    may_not_grow = sizing.scale_up.mode is UpdateMode.OFF and (
        reason is not None or decision.size == decision.before
    )
    return reason in {BlockReason.UPDATE_POLICY, BlockReason.REPLICAS_ZERO} or may_not_grow


def _present(sight: SizingSight, memory: SizingMemory) -> PresentSize | None:
    """The largest of all pods, or what was decided for them: new ones may still be smaller."""
    if not sight.workload.pods:
        return None
    pods, size = sight.workload.pods, memory.size
    requests = _largest([pod.requests for pod in pods], size.requests if size else {})
    limits = _largest([pod.limits for pod in pods], size.limits if size else {})
    return PresentSize(
        replicas=sight.workload.replicas,
        requests=requests,
        limits=limits,
        used={part: _used_at_most(part, limit, sight) for part, limit in limits.items()},
        held=memory.held,
    )


def size_as_seen(workload: SizedWorkload) -> WorkloadSize:
    """Replicas, and the largest size of a pod."""
    requests, limits = (
        {part: rounded_up(amount) for part, amount in _largest(sizes, {}).items()}
        for sizes in ([p.requests for p in workload.pods], [p.limits for p in workload.pods])
    )
    return WorkloadSize(replicas=workload.replicas, requests=requests, limits=limits)


def _used_at_most(part: Sized, limit: Fraction, sight: SizingSight) -> Fraction:
    """The use of one pod; memory of which nothing is known may be in use up to its limit."""
    unknown = limit if part.resource == MEMORY else Fraction(0)
    return sight.peaks.get(part, unknown)


def _largest(sizes: Iterable[Rounded], decided: Rounded) -> dict[Sized, Fraction]:
    """The largest amount of each part that a pod has."""
    found: dict[Sized, int] = {}
    for each in sizes:
        for part, amount in each.items():
            found[part] = max(amount, found.get(part, decided.get(part, 0)))
    return {part: Fraction(amount) for part, amount in found.items()}


def _with_changes_of_others(
    sight: SizingSight, memory: SizingMemory
) -> Mapping[Sized, CountChange]:
    """The changes of replicas, with one that somebody else has made since the last look."""
    before, after = memory.replicas, sight.workload.replicas
    if sight.vpa is None or before == after or not (before and after):
        return memory.changes
    known = memory.changes
    return {
        part: CountChange(
            before=before,
            after=after,
            target=target,
            total=evidence_of(target, replicas=before, change=known.get(part)).total,
        )
        for part, target in sight.vpa.targets.items()
    }


def _still_stale(sight: SizingSight, memory: SizingMemory) -> Iterator[tuple[Sized, CountChange]]:
    targets = sight.vpa.targets if sight.vpa else {}
    for part, change in memory.changes.items():
        if part not in targets or change.explains(targets[part]):
            yield part, change


def _recommendations(
    sight: SizingSight, memory: SizingMemory, now: datetime
) -> Iterator[Recommendation]:
    if sight.hpa is not None:
        hpa = sight.hpa
        doubt = hpa.doubt or _too_early(memory, now)
        yield Recommendation(source=SizeSource.HPA, totals=hpa.totals, doubt=doubt)
    if sight.vpa is not None:
        vpa = sight.vpa
        doubt = vpa.doubt or reason_to_doubt(vpa.conditions, vpa.samples)
        totals = {
            part: evidence_of(
                target,
                replicas=sight.workload.replicas,
                change=memory.changes.get(part),
                used=sight.used.get(part),
            ).total
            for part, target in sight.vpa.targets.items()
        }
        yield Recommendation(source=SizeSource.VPA, totals=totals, doubt=doubt)


def _too_early(memory: SizingMemory, now: datetime) -> str | None:
    """Why an HPA can't know the present size yet."""
    since = memory.settled or memory.last_scaled
    if since is None or not timedelta() <= now - since < SETTLING:
        return None
    return "it may have measured before the last change"


def _occasion(sight: SizingSight, memory: SizingMemory, now: datetime) -> Occasion:
    return Occasion(
        now=now,
        last_scaled=memory.last_scaled,
        has_run_out=sight.has_run_out,
        throttled=sight.throttled,
    )


def _remembering(
    memory: SizingMemory,
    sight: SizingSight,
    size: WorkloadSize,
    said: tuple[Recommendation, ...],
    now: datetime,
) -> SizingMemory:
    """The decision, and what the VPA says at a change of replicas."""
    changes = memory.changes
    if sight.vpa is not None and size.replicas != sight.workload.replicas:
        vpa = next(each for each in said if each.source is SizeSource.VPA)
        changes = {
            part: CountChange(
                before=sight.workload.replicas,
                after=size.replicas,
                target=target,
                total=vpa.totals[part],
            )
            for part, target in sight.vpa.targets.items()
        }
    return replace(memory, intent=size, size=size, last_scaled=now, settled=None, changes=changes)
