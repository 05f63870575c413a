"""Snapshots in the form of the real ones, made up: the same seed always gives the same pods.

Real clusters hold either many small services of a few replicas each, or batches of few sizes with
hundreds of pods; both kinds are drawn here, so that what reads snapshots is tried on any machine.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Classes = list[dict[str, Any]]


def services(chance: random.Random) -> Classes:
    """Small pods that want more memory than processor, some of them for one architecture only."""
    return [
        {
            "cpu_m": 10 * round(chance.lognormvariate(2.0, 0.9) + 1),
            "mem_mib": 64 * round(chance.lognormvariate(2.3, 0.7) + 1),
            "gpu": 0,
            "count": min(40, 1 + int(chance.expovariate(0.2))),
        }
        | chance.choice(({}, {}, {}, {"arch": "arm64"}))
        for _ in range(45)
    ]


def batches(chance: random.Random) -> Classes:
    """Few sizes, each twice the one before, and many pods of each."""
    return [
        {
            "cpu_m": 250 * 2**size,
            "mem_mib": chance.choice((448, 896, 1792)) * 2**size,
            "gpu": 0,
            "count": chance.randint(20, 400) // 2**size + 1,
        }
        for size in (0, 0, 1, 1, 2, 2, 3, 4)
    ]


KINDS: Final[dict[str, Callable[[random.Random], Classes]]] = {
    "services": services,
    "batches": batches,
}


def written(folder: Path, kind: str, *, seed: int = 0) -> Path:
    """A snapshot of a kind as a file, as it lies among the real ones."""
    path = folder / f"snapshot-{kind}.json"
    classes = KINDS[kind](random.Random(f"{kind} {seed}"))
    path.write_text(json.dumps({"name": kind, "classes": classes}))
    return path
