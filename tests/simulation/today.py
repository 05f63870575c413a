"""The seeds of a day: nobody has chosen them, and all runs of the day have the same."""

from __future__ import annotations

import os
from typing import Final

from tests import order

SEEDS: Final = 3
MINUTES: Final = 24
"""Half of the kinds of faults are on in each seed, so many short ones find more than few long
ones."""


def turn() -> int:
    """The number of the day, for what is tried in turn."""
    return order.number_of(order.seed_from(os.environ))


def first() -> int:
    """The first of them; no two days share one."""
    return SEEDS * turn()


def replay() -> str:
    """The command that runs them all."""
    return f"python -m reconciler.simulation --seeds {SEEDS} --first {first()} --minutes {MINUTES}"
