"""The loop of sizing: each pass decides about all Hvpas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.service.passing import PassLoop, PassPort
from sizing.core.actions import SizingAction
from sizing.core.world import SizingWorld
from sizing.passes import sizing_pass

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


class SizingLoop(PassLoop[SizingWorld, SizingAction]):
    """Decides about sizes, pass by pass; no Hvpa has two sequences."""

    def __init__(
        self, port: PassPort[SizingWorld, SizingAction], *, now: Callable[[], datetime]
    ) -> None:
        super().__init__(port, decide=sizing_pass, now=now)
