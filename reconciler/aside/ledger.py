"""What is remembered of subjects that are put aside, and of rules that were left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from reconciler.core.actions import CrashedStep, Subject
from reconciler.core.decision import NEVER

if TYPE_CHECKING:
    from collections.abc import Mapping


class PutAside(msgspec.Struct, frozen=True, kw_only=True):
    """A subject that nothing is decided on until one of its objects changes, or for some time."""

    subject: Subject
    versions: tuple[str, ...]
    """The resourceVersions of its objects."""
    why: str
    """What happened and where in the code, without values: they may be secret."""
    is_poison: bool
    """Whether a rule fails on its objects, so that others stand in for them."""
    until: float = NEVER
    """The monotonic second from which on it is tried again, even if nothing changes."""
    is_told: bool = False
    """Whether an event was written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AsideLedger:
    """The subjects that are put aside; after a restart they are found again."""

    subjects: Mapping[Subject, PutAside] = field(default_factory=dict)
    failing: Mapping[str, str] = field(default_factory=dict)
    """Rules that were left out in the last pass, since no subject could be blamed, and why."""
    crashes: Mapping[Subject, CrashedStep] = field(default_factory=dict)
    """Crashes of steps that a subject was put aside for: each is one reason to, once."""
