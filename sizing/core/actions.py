"""What can be done for an Hvpa, as data. Rules decide on it, effects carry it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import override

if TYPE_CHECKING:
    from growth.api.hvpa import Hvpa
    from growth.api.hvpa_status import HvpaStatus
    from sizing.rule.applying import SizingStep
    from sizing.rule.sizing import WorkloadSize


@dataclass(frozen=True)
class TellStatus:
    """Write down what is seen and decided, in the status of an Hvpa."""

    hvpa: Hvpa
    status: HvpaStatus

    @override
    def __str__(self) -> str:
        return f"TellStatus({self.hvpa.metadata.namespace}/{self.hvpa.name})"


@dataclass(frozen=True)
class TakeStep:
    """Take one step of a workload towards a size."""

    hvpa: Hvpa
    step: SizingStep
    size: WorkloadSize

    @override
    def __str__(self) -> str:
        return f"TakeStep({self.hvpa.metadata.namespace}/{self.hvpa.name}: {self.step})"


SizingAction: TypeAlias = TellStatus | TakeStep
SizingSequence: TypeAlias = tuple[SizingAction, ...]
"""Actions for one Hvpa in order, up to the first that fails."""
