"""Carries out a sequence: its actions one after another, up to the first that fails.

A failure ends its own sequence only. Nothing is undone and nothing is remembered: the next pass
decides on what is there then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from growth.errors import GrowthError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fleet.core.actions import ClusterSequence, FleetAction


@dataclass(frozen=True)
class SequenceOutcome:
    """What of a sequence was done, and what ended it."""

    done: ClusterSequence
    error: GrowthError | None = None


async def carry_out_sequence(
    sequence: ClusterSequence, do: Callable[[FleetAction], Awaitable[None]]
) -> SequenceOutcome:
    """Do one action after another."""
    done: list[FleetAction] = []
    for action in sequence:
        try:
            await do(action)
        except GrowthError as error:
            return SequenceOutcome(tuple(done), error)
        done.append(action)
    return SequenceOutcome(tuple(done))
