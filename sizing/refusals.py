"""Writes that the API server has refused: what follows, and for how long.

Somebody else who owns the number of replicas, or the size of pods, keeps it until an annotation of
the Hvpa hands it over. Nothing is written for ten minutes, also after a restart, so two writers
never fight.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.api.wellknown import HVPA_TAKEOVER_ANNOTATION
from sizing.remembering import memory_in
from sizing.rule.applying import REFUSED_FOR, StepReason

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.hvpa import Hvpa
    from growth.api.hvpa_status import RefusedWrite
    from sizing.rule.workload import SizingMemory, SizingSight


def handed_over(hvpa: Hvpa) -> frozenset[str]:
    """The field managers whose fields growth takes over."""
    written = hvpa.metadata.annotations.get(HVPA_TAKEOVER_ANNOTATION, "")
    return frozenset(filter(None, (each.strip() for each in written.split(","))))


def standing_refusal(hvpa: Hvpa, now: datetime) -> RefusedWrite | None:
    """The last refusal, while nothing may be written because of it."""
    refused = hvpa.status.refused
    if refused is None or now >= refused.at + REFUSED_FOR:
        return None
    is_settled = bool(refused.by) and handed_over(hvpa).issuperset(refused.by)
    return None if is_settled else refused


def still_remembered(hvpa: Hvpa, refused: RefusedWrite | None) -> SizingMemory:
    """What is remembered. A decision is made anew after a refusal, or if the spec has changed."""
    memory, status = memory_in(hvpa.status), hvpa.status
    if refused is not None:
        # What was refused isn't the size of anything.
        return replace(memory, intent=None, size=None)
    if status.observed_generation != hvpa.metadata.generation:
        return replace(memory, intent=None)
    return memory


def with_refusal(sight: SizingSight, refused: RefusedWrite | None) -> SizingSight:
    """The same with the refusal that still stands."""
    if refused is None:
        return sight
    workload = replace(sight.workload, refused_at=refused.at, refusal=StepReason(refused.reason))
    return replace(sight, workload=workload)


def refusal_text(refused: RefusedWrite) -> str:
    """What was refused, and how to hand it over."""
    if not refused.by:
        return refused.message
    owners = ",".join(refused.by)
    return (
        f"{owners} owns what would be changed: let it go there, or annotate the Hvpa with "
        f"{HVPA_TAKEOVER_ANNOTATION}={owners}"
    )
