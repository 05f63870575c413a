"""One step of one request, as the rules here return it."""

from __future__ import annotations

import msgspec

from reconciler.actions import Action
from reconciler.decision import NEVER


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done, and when to look again."""

    actions: tuple[Action, ...] = ()
    why: str = ""
    wake_at: float = NEVER


WAIT = Step()
"""Only a change makes a difference."""
