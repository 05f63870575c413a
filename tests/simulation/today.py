"""The seeds of a day: nobody has chosen them, and all runs of the day have the same."""

from __future__ import annotations

import os
from typing import Final

from tests import order

SEEDS: Final = 3
MINUTES: Final = 24


def first() -> int:
    """The first of them; no two days share one."""
    return SEEDS * order.number_of(order.seed_from(os.environ))


def replay() -> str:
    """The command that runs them all."""
    return f"python -m reconciler.simulation --seeds {SEEDS} --first {first()} --minutes {MINUTES}"
