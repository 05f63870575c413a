"""A story: everything that a run depends on, so that it can be repeated."""

from __future__ import annotations

import msgspec

from reconciler.simulation import faults
from reconciler.simulation.faults import SimulatedFault

WORKLOADS = 16
QUIET_MINUTES = 40.0
"""The quiet time after the last arrival and fault: longer than any wait of a rule."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """The input of one run."""

    seed: int
    minutes: float = 60.0
    """The minutes with arrivals and faults; the quiet minutes follow."""
    faults: tuple[SimulatedFault, ...]
    workloads: int = WORKLOADS
    kill: str = ""
    """The name of the point at which our process ends."""

    @property
    def noisy(self) -> float:
        """The second at which the quiet time begins."""
        return self.minutes * 60.0

    @property
    def end(self) -> float:
        """The last second."""
        return self.noisy + QUIET_MINUTES * 60.0

    @property
    def command(self) -> str:
        """The command that replays the story."""
        words = [f"--seed {self.seed}", f"--minutes {self.minutes:g}"]
        if self.faults != faults.drawn(self.seed):
            words.append(f"--faults {','.join(self.faults) or 'none'}")
        if self.workloads != WORKLOADS:
            words.append(f"--workloads {self.workloads}")
        return " ".join(["python -m reconciler.simulation", *words])


def story(seed: int, minutes: float = 60.0) -> Story:
    """The story of a seed."""
    return Story(seed=seed, minutes=minutes, faults=faults.drawn(seed))
