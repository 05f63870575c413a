"""One step with one thing, as rules return it that decide on one after the other."""

from __future__ import annotations

import msgspec

from reconciler.core.actions import Action
from reconciler.core.decision import NEVER


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done, and when to look again."""

    actions: tuple[Action, ...] = ()
    why: str = ""
    wake_at: float = NEVER


WAIT = Step()
"""Only a change makes a difference."""
