"""From recommendations to replicas, requests and limits.

1. Each source says a total for each resource of each container. The largest counts, so the order of
   sources doesn't matter.
2. Each total suits a range of replicas. The nearest to the present number counts for each, and the
   highest of all is chosen.
3. A pod gets its share of each total. If fewer pods would mean a larger request although the total
   falls, the number of replicas waits and only the size changes. The request of the beginning is
   remembered: pods that shrink with the load would otherwise always be too small for fewer of them.
4. What would change may have to wait: see `sizing.rule.blocking`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import NO_MARGIN, NONE, Sized, rounded_up
from sizing.rule.blocking import Block, BlockReason, TotalsChange, block_of
from sizing.rule.intervals import count_range
from sizing.rule.shares import (
    CountStep,
    along,
    limit_in_ratio,
    limit_with_gap,
    safe_limit,
    share_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sizing.rule.amounts import Amounts, Margins, Sizes
    from sizing.rule.blocking import Occasion, ScaleRules
    from sizing.rule.intervals import EffectiveInterval
    from sizing.rule.windows import MaintenanceWindow

Rounded: TypeAlias = "Mapping[Sized, int]"


class SizeSource(enum.Enum):
    """Who recommends."""

    HPA = "HPA"
    VPA = "VPA"


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """What a source says."""

    source: SizeSource
    totals: Sizes = field(default_factory=dict)
    doubt: str | None = None
    """Why it isn't believed. Such a source keeps what there is: nothing shrinks without it."""


@dataclass(frozen=True, kw_only=True)
class PresentSize:
    """What a workload has now."""

    replicas: int
    requests: Sizes
    """Of one pod."""
    limits: Sizes = field(default_factory=dict)
    """Of one pod, where it has some."""
    used: Sizes = field(default_factory=dict)
    """The largest measured use of one pod, where it is known."""
    held: Sizes = field(default_factory=dict)
    """The requests that a pod had when fewer replicas began to wait; nothing if they don't."""


@dataclass(frozen=True, kw_only=True)
class SizingRules:
    """What a spec asks for."""

    intervals: tuple[EffectiveInterval, ...]
    scale_up: ScaleRules
    scale_down: ScaleRules
    window: MaintenanceWindow | None = None
    base: Margins = field(default_factory=dict)
    limits_gap: Margins = field(default_factory=dict)
    min_allowed: Mapping[Sized, Fraction] = field(default_factory=dict)
    max_allowed: Mapping[Sized, Fraction] = field(default_factory=dict)
    not_sized: frozenset[str] = frozenset()
    """Containers whose size stays. What an HPA says about them still counts for the replicas."""


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """Whose total has led to the number of replicas."""

    source: SizeSource
    part: Sized
    total: Fraction
    is_held: bool = False
    """Whether it is what there is, because the source isn't believed."""


@dataclass(frozen=True, kw_only=True)
class WorkloadSize:
    """Replicas, and the requests and limits of one pod."""

    replicas: int
    requests: Rounded
    limits: Rounded


@dataclass(frozen=True, kw_only=True)
class SizeDecision:
    """What a workload should have."""

    size: WorkloadSize
    """The size to apply now: as it is, if the change is blocked."""
    wanted: WorkloadSize
    """The size without the block."""
    before: WorkloadSize
    """The present size."""
    decided_by: Deciding | None = None
    blocked: Block | None = None
    held: Sizes = field(default_factory=dict)
    """To be remembered: see `PresentSize`. It isn't empty while fewer replicas have to wait."""


def size_of_workload(
    rules: SizingRules,
    running: PresentSize,
    recommendations: Sequence[Recommendation],
    at: Occasion,
) -> SizeDecision:
    """What a workload should have, and what keeps it from that."""
    present = _present(running)
    if running.replicas == 0:
        return _kept(present, BlockReason.REPLICAS_ZERO)
    said = _believed(rules, recommendations, running)
    if not any(one.doubt is None and one.totals for one in recommendations):
        return _kept(present, BlockReason.SOURCE_UNAVAILABLE)
    change = TotalsChange(before=_totals(running), after={p: one.total for p, one in said.items()})
    wanted, decided_by, waits = _wanted(rules, running, said, change)
    block = None
    if wanted == present:
        block = Block(reason=BlockReason.PARADOXICAL_SCALING) if waits else None
    else:
        direction = rules.scale_up if change.is_up else rules.scale_down
        block = block_of(change, direction, window=rules.window, at=at)
    size = wanted if block is None else present
    return SizeDecision(
        size=size,
        wanted=wanted,
        before=present,
        decided_by=decided_by,
        blocked=block,
        held=_held(running, said.values(), waits=waits, is_blocked=block is not None),
    )


def _held(
    running: PresentSize, said: Iterable[Deciding], *, waits: bool, is_blocked: bool
) -> Sizes:
    """The requests at the beginning of a wait.

    It lasts until fewer replicas are really set, or a source that is believed doesn't want that.
    """
    if waits:
        return running.held or running.requests
    return running.held if is_blocked or any(one.is_held for one in said) else {}


def hpa_totals(desired_replicas: int, requests: Sizes) -> dict[Sized, Fraction]:
    """The totals that a number of replicas stands for, each with its present request."""
    return {part: request * desired_replicas for part, request in requests.items()}


def vpa_totals(replicas: int, targets: Sizes) -> dict[Sized, Fraction]:
    """The totals that recommended requests stand for, with the present number of replicas."""
    return {part: target * replicas for part, target in targets.items()}


def _present(running: PresentSize) -> WorkloadSize:
    return WorkloadSize(
        replicas=running.replicas,
        requests={part: rounded_up(amount) for part, amount in running.requests.items()},
        limits={part: rounded_up(amount) for part, amount in running.limits.items()},
    )


def _kept(present: WorkloadSize, reason: BlockReason) -> SizeDecision:
    return SizeDecision(size=present, wanted=present, before=present, blocked=Block(reason=reason))


def _totals(running: PresentSize) -> dict[Sized, Fraction]:
    return {part: request * running.replicas for part, request in running.requests.items()}


def _believed(
    rules: SizingRules, recommendations: Iterable[Recommendation], running: PresentSize
) -> dict[Sized, Deciding]:
    """The largest total for each part that the workload has, in the order of the parts."""
    held = _totals(running)
    found: dict[Sized, Deciding] = {}
    for one in sorted(recommendations, key=lambda each: each.source.value):
        for part, total in (one.totals if one.doubt is None else held).items():
            if part not in held or _is_off(rules, one.source, part):
                continue
            if part not in found or total > found[part].total:
                is_held = one.doubt is not None
                found[part] = Deciding(source=one.source, part=part, total=total, is_held=is_held)
    return dict(sorted(found.items()))


def _is_off(rules: SizingRules, source: SizeSource, part: Sized) -> bool:
    return source is SizeSource.VPA and part.container in rules.not_sized


def _wanted(
    rules: SizingRules, running: PresentSize, said: Mapping[Sized, Deciding], change: TotalsChange
) -> tuple[WorkloadSize, Deciding | None, bool]:
    """The size without blocks, who decided the replicas, and whether fewer of them must wait."""
    replicas, decided_by = _highest(rules.intervals, said.values(), running.replicas)
    step = CountStep(before=running.replicas, after=replicas)
    waits = step.after < step.before and _grows_against_total(rules, running, change, step)
    if waits:
        step = CountStep(before=step.before, after=step.before)
    requests = _requests(rules, running, change, step)
    limits = _limits(rules, running, requests, step.after)
    if _is_guaranteed(running) and not rules.limits_gap:
        requests = limits
    size = WorkloadSize(replicas=step.after, requests=requests, limits=limits)
    return size, decided_by, waits


def _highest(
    intervals: tuple[EffectiveInterval, ...], said: Iterable[Deciding], current: int
) -> tuple[int, Deciding | None]:
    chosen: tuple[int, Deciding | None] = (0, None)
    for one in said:
        suits = count_range(intervals, one.part.resource, one.total)
        if suits is None:
            continue
        # What there is may be more than the intervals have for it, right after a change.
        count = current if one.is_held else suits.nearest(current)
        if count > chosen[0]:
            chosen = (count, one)
    return chosen if chosen[1] is not None else (current, None)


def _grows_against_total(
    rules: SizingRules, running: PresentSize, change: TotalsChange, step: CountStep
) -> bool:
    """Whether fewer pods would need larger requests, although a total falls.

    A total that stays where it has fallen to is no reason to end the wait.
    """
    return any(
        (change.falls(part) or (part in running.held and not change.rises(part)))
        and max(running.requests[part], running.held.get(part, NONE))
        < _share(rules, running, part, total=total, step=step)
        for part, total in change.after.items()
        if part.container not in rules.not_sized
    )


def _share(
    rules: SizingRules, running: PresentSize, part: Sized, *, total: Fraction, step: CountStep
) -> Fraction:
    base = rules.base.get(part.resource, NO_MARGIN)
    return share_of(total, step, request=running.requests[part], base=base)


def _requests(
    rules: SizingRules, running: PresentSize, change: TotalsChange, step: CountStep
) -> dict[Sized, int]:
    fixed = _fixed(rules.intervals, change.after, step.after)
    found = dict(running.requests)
    for part, total in change.after.items():
        if part.container in rules.not_sized:
            continue
        share = along(
            _share(rules, running, part, total=total, step=step),
            request=max(running.requests[part], running.held.get(part, NONE)),
            total_falls=change.falls(part),
            step=step,
        )
        found[part] = _allowed(rules, part, fixed.get(part, share))
    return {part: rounded_up(amount) for part, amount in found.items()}


def _fixed(
    intervals: Iterable[EffectiveInterval], totals: Sizes, replicas: int
) -> dict[Sized, Fraction]:
    """The sizes that don't scale: of the container that needs most of a resource."""
    interval = next((each for each in intervals if each.replicas == replicas), None)
    if interval is None or not interval.is_fixed:
        return {}
    sizes: Amounts = interval.most_per_pod
    largest: dict[str, Sized] = {}
    for part, total in totals.items():
        known = largest.get(part.resource)
        if part.resource in sizes and (known is None or total > totals[known]):
            largest[part.resource] = part
    return {part: sizes[resource] for resource, part in largest.items()}


def _allowed(rules: SizingRules, part: Sized, amount: Fraction) -> Fraction:
    """Within what the spec allows for one pod; the minimum counts if they contradict."""
    most = rules.max_allowed.get(part)
    capped = amount if most is None else min(amount, most)
    return max(capped, rules.min_allowed.get(part, NONE))


def _limits(
    rules: SizingRules, running: PresentSize, requests: Rounded, replicas: int
) -> dict[Sized, int]:
    """Limits of the containers that have some."""
    return {
        part: rounded_up(
            safe_limit(
                _limit(rules, running, part, request=Fraction(requests[part]), replicas=replicas)
                if part in requests
                else present,
                part.resource,
                present=present,
                used=running.used.get(part, NONE),
            )
        )
        for part, present in running.limits.items()
    }


def _is_guaranteed(running: PresentSize) -> bool:
    """Whether all requests of a pod are its limits, and have to stay so: its QoS class is fixed."""
    containers = {part.container for part in running.requests}
    parts = {Sized(container, name) for container in containers for name in (CPU, MEMORY)}
    return parts == running.requests.keys() and running.requests == running.limits


def _limit(
    rules: SizingRules, running: PresentSize, part: Sized, *, request: Fraction, replicas: int
) -> Fraction:
    gap = rules.limits_gap.get(part.resource)
    if gap is not None:
        return limit_with_gap(request, replicas=replicas, gap=gap)
    return limit_in_ratio(running.limits[part], request=request, before=running.requests[part])
