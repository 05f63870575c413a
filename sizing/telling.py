"""The status of an Hvpa, from what a pass has seen and decided."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from growth.api.conditions import conditions_of
from growth.api.hvpa_status import (
    MOST_INTERVALS,
    ContainerTotals,
    DecidedBy,
    IntervalInStatus,
    LastScaling,
    SourceInStatus,
    SourceName,
)
from sizing.remembering import (
    RESOURCES,
    written_amount,
    written_changes,
    written_held,
    written_size,
)
from sizing.rule.amounts import rounded_up
from sizing.rule.workload import size_as_seen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from growth.api.hvpa import Hvpa
    from growth.api.hvpa_status import BlockedSize, HvpaStatus
    from sizing.core.world import SightOfTarget
    from sizing.rule.amounts import Sizes
    from sizing.rule.intervals import EffectiveInterval
    from sizing.rule.sizing import Deciding, Recommendation
    from sizing.rule.workload import SizingMemory, SizingPass


def status_with(hvpa: Hvpa, now: datetime, **fields: Any) -> HvpaStatus:
    """The status with these fields changed, and the conditions that follow."""
    generation = hvpa.metadata.generation
    told = hvpa.status.model_copy(update={"observed_generation": generation, **fields})
    conditions = conditions_of(
        told.verdict, generation=generation, before=hvpa.status.conditions, now=now
    )
    return told.model_copy(update={"conditions": conditions})


def seen_fields(target: SightOfTarget) -> dict[str, Any]:
    """What is seen of the workload."""
    seen = size_as_seen(target.sight.workload)
    return {
        "replicas": seen.replicas,
        "selector": target.selector,
        "current": written_size(seen),
    }


def decided_fields(passed: SizingPass) -> dict[str, Any]:
    """What was decided, and on what."""
    if passed.decision is None:
        intent = passed.memory.intent
        return {"desired": intent and written_size(intent)}
    by = passed.decision.decided_by
    return {
        "desired": written_size(passed.decision.wanted),
        "sources": tuple(map(_source, passed.said)),
        "decided_by": None if by is None or by.is_held else _decided_by(by),
    }


def memory_fields(
    hvpa: Hvpa, memory: SizingMemory, target: SightOfTarget, blocked: BlockedSize | None
) -> dict[str, Any]:
    """What the next pass has to know."""
    return {
        "blocked": blocked,
        "intent": memory.intent and written_size(memory.intent),
        "last_scaling": _last_scaling(hvpa.status.last_scaling, memory, target),
        "held": written_held(memory.held),
        "replicas_changes": written_changes(memory.changes),
    }


def _last_scaling(
    before: LastScaling | None, memory: SizingMemory, target: SightOfTarget
) -> LastScaling | None:
    if memory.last_scaled is None or memory.size is None:
        return before
    if before is not None and before.at == memory.last_scaled:
        return before.model_copy(update={"reached_at": memory.settled})
    return LastScaling(
        at=memory.last_scaled,
        before=written_size(size_as_seen(target.sight.workload)),
        after=written_size(memory.size),
    )


def _source(said: Recommendation) -> SourceInStatus:
    return SourceInStatus(
        name=SourceName(said.source.value),
        trusted=said.doubt is None,
        reason=said.doubt or "",
        totals=tuple(_totals(said.totals)),
    )


def _totals(totals: Sizes) -> Iterable[ContainerTotals]:
    found: dict[str, dict[str, str]] = {}
    for part, amount in sorted(totals.items()):
        if part.resource in RESOURCES:
            written = written_amount(part.resource, rounded_up(amount))
            found.setdefault(part.container, {})[part.resource] = written
    for name, amounts in found.items():
        yield ContainerTotals.model_validate({"name": name, **amounts})


def _decided_by(by: Deciding) -> DecidedBy:
    return DecidedBy(
        source=SourceName(by.source.value),
        container=by.part.container,
        resource=by.part.resource,
        total=written_amount(by.part.resource, rounded_up(by.total)),
    )


def written_intervals(intervals: Iterable[EffectiveInterval]) -> Iterable[IntervalInStatus]:
    """The first hundred intervals, as they are written in a status."""
    for each in islice(intervals, MOST_INTERVALS):
        fields: dict[str, Any] = {"replicas": each.replicas}
        for name in RESOURCES:
            for ending, totals in (("_up_to", each.most), ("_down_to", each.least)):
                if name in totals:
                    fields[name + ending] = written_amount(name, rounded_up(totals[name]))
        yield IntervalInStatus.model_validate(fields)
