"""The next step for one object, as returned by rules that decide object by object."""

from __future__ import annotations

import msgspec

from reconciler.core.actions import Action
from reconciler.core.decision import NEVER


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, and when to be called again."""

    actions: tuple[Action, ...] = ()
    why: str = ""
    wake_at: float = NEVER


WAIT = Step()
"""Do nothing until something changes."""
