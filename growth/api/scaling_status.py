"""`status.scaling`: what a pool's policy has seen and decided, why, and what holds it up.

Every policy uses this form. What a policy must remember over a restart is here too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, Strict

from growth.api.bounds import MOST, Atomic, Count, Identifier, ListMap, Sentence, Word
from growth.api.model import Model
from growth.api.written import ServerType, Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ScalingFloor(Model):
    """A minimum number of machines that the pool's policy wants even without load."""

    server_types: Annotated[tuple[ServerType, ...], Field(max_length=256), Atomic()]
    """The server types that count together."""
    nodes: Count
    """Minimum number of machines."""


class ScalingFigure(Model):
    """A number that the policy has decided on."""

    name: Annotated[str, Field(max_length=63, pattern="^[a-z][A-Za-z]*$")]
    """What was counted or measured, such as cpuPercent."""
    value: Annotated[str, Field(max_length=63)]
    """The number."""


class ScalingStep(StrEnum):
    """What a policy does to the number of a pool's nodes."""

    UP = "Up"
    DOWN = "Down"
    NONE = "None"


class ScalingHold(Model):
    """Something that keeps the policy from changing the number of nodes."""

    reason: Word
    """Why, as one word: Lock, Cooldown, Unhealthy, or the name of a check."""
    node: Annotated[str, Field(max_length=253)] = ""
    """The node that it keeps. Empty for the whole pool."""
    message: Sentence = ""
    """The same, for people."""
    until: Timestamp | None = None
    """When it ends by itself at the latest, if known."""


def new_holds(before: Iterable[ScalingHold], now: Iterable[ScalingHold]) -> Iterator[ScalingHold]:
    """Those that weren't there before, whatever their texts say by now."""
    known = {(each.reason, each.node) for each in before}
    return (each for each in now if (each.reason, each.node) not in known)


class ScalingStatus(Model):
    """What the pool's scaling policy has decided, if that isn't clear from the spec."""

    policy: Annotated[str, Field(max_length=63)]
    """The policy that has decided."""
    seen: Annotated[tuple[ScalingFigure, ...], Field(max_length=32), ListMap("name")] = ()
    """The numbers that it has decided on, in whole percent or whole nodes."""
    step: ScalingStep = ScalingStep.NONE
    """Up if nodes are added, Down if nodes are given back, otherwise None."""
    change: Annotated[int, Strict(), Field(ge=-MOST, le=MOST)] = 0
    """By how many nodes; negative if they are given back."""
    reason: Annotated[str, Field(max_length=64, pattern="^([A-Z][A-Za-z]*)?$")] = ""
    """Why, as one word for programs."""
    message: Sentence = ""
    """The reason, for people."""
    holds: Annotated[tuple[ScalingHold, ...], Field(max_length=64), Atomic()] = ()
    """What holds it up, and until when."""
    floors: Annotated[tuple[ScalingFloor, ...], Field(max_length=256), Atomic()] = ()
    """Machines that growth buys if they are missing, and doesn't give back."""
    most: Count | None = None
    """Maximum number of machines for the policy. Unset if only the pool's limits apply."""
    surplus: Annotated[tuple[Identifier, ...], Field(max_length=256), Atomic()] = ()
    """Nodes that the policy gives back."""
    drains: bool = False
    """Whether pods are moved off these nodes first."""
    desired_nodes: Count | None = None
    """The number of nodes that the policy Desired keeps now: the one that was set, more for pending
    pods, fewer if nodes are underutilized."""
    requested_nodes: Count | None = None
    """The desiredNodes of the spec that it follows. If the spec says another number, that counts
    from then on."""
    changed_at: Timestamp | None = None
    """When the policy last changed its decision."""
    scaled_up_at: Timestamp | None = None
    """When it last added nodes. Cooldowns and locks count from here, also after a restart."""
    scaled_down_at: Timestamp | None = None
    """When it last gave nodes back."""
