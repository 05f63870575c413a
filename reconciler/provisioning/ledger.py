"""What provisioning remembers between two passes.

None of it is needed for safety. After a restart, each wait starts over or continues from the
request's status.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import RequestPhase


class RequestStage(NamedTuple):
    """The stage of a request; what was learnt at an earlier stage no longer counts."""

    uid: str
    phase: RequestPhase
    is_going: bool
    """Whether the object is being deleted."""


class StageSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a request is known to stand where it stands."""

    stage: RequestStage
    at: float
    """In monotonic seconds: a listing requested later shows everything that happened before."""
    since: float = 0.0
    """When the provider accepted, on the clock that stops while growth is blind."""


class FailedCreates(msgspec.Struct, frozen=True, kw_only=True):
    """Creates of one request that have failed in a row, each in a way that passes by itself."""

    count: int
    at: float
    """The moment of the last answer, in monotonic seconds."""


class SeatsHeld(NamedTuple):
    """How often the seats of a machine were held, and when last, in monotonic seconds."""

    times: int
    at: float


class OpeningWait(StrEnum):
    """What a Ready node waits for before it opens."""

    NOTHING = "nothing"
    DRIVERS = "drivers"
    """Storage drivers that keep pods off the node until they register."""
    MACHINES = "machines"
    """Other machines of its plan, which still boot."""
    CONTROL_PLANE = "control_plane"
    """The control plane, which hasn't removed its taints from all Ready machines of the plan."""
    SEATS = "seats"
    """Seats that are held, on this node or before it on others of its pool."""


class NodeOpening(NamedTuple):
    """What a Ready node waits for, or waited for last; times are in monotonic seconds."""

    waited_for: OpeningWait
    ready_at: float
    opened_at: float | None = None


class AskedOf(NamedTuple):
    """The pool and node class that an answer is about, as they were when the provider was asked."""

    at: float
    """In monotonic seconds: earlier answers are about something else."""
    pool: int
    node_class: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProvisioningLedger:
    """Memory, by the name of the request."""

    seen: Mapping[str, StageSeen] = field(default_factory=dict)
    troubles: Mapping[str, FailedCreates] = field(default_factory=dict)
    asked_of: Mapping[str, AskedOf] = field(default_factory=dict)
    ready: Mapping[str, float] = field(default_factory=dict)
    """Since when the node of a request is Ready, in monotonic seconds."""
    held: Mapping[str, SeatsHeld] = field(default_factory=dict)
    """The machines whose seats were held."""
    openings: Mapping[str, NodeOpening] = field(default_factory=dict)
    """Nodes that are Ready and about to open, or have opened."""
