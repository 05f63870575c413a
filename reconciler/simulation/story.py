"""What is simulated: everything that a run depends on, so that it can be run again."""

from __future__ import annotations

import msgspec

from reconciler.simulation import faults
from reconciler.simulation.faults import SimulatedFault

WORKLOADS = 16
QUIET_MINUTES = 40.0
"""After the last arrival and the last fault: longer than every wait that a rule knows."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    seed: int
    minutes: float = 60.0
    """In which pods arrive and things go wrong; the quiet minutes come after them."""
    faults: tuple[SimulatedFault, ...]
    workloads: int = WORKLOADS
    kill: str = ""
    """The point at which our process ends, by its name."""

    @property
    def noisy(self) -> float:
        """The second at which the quiet begins."""
        return self.minutes * 60.0

    @property
    def end(self) -> float:
        """The last second."""
        return self.noisy + QUIET_MINUTES * 60.0

    @property
    def command(self) -> str:
        """What replays it."""
        words = [f"--seed {self.seed}", f"--minutes {self.minutes:g}"]
        if self.faults != faults.drawn(self.seed):
            words.append(f"--faults {','.join(self.faults) or 'none'}")
        if self.workloads != WORKLOADS:
            words.append(f"--workloads {self.workloads}")
        return " ".join(["python -m reconciler.simulation", *words])


def story(seed: int, minutes: float = 60.0) -> Story:
    """The story of a seed."""
    return Story(seed=seed, minutes=minutes, faults=faults.drawn(seed))
