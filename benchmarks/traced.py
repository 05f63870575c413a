"""The pods of a recorded day, thinned, and the cost of a cluster that knows the future.

GROWTH_TRACES names the folder. A trace is a file `NAME.jsonl.gz` with one pod in a line: `t` and
`end` in seconds (null: it outlives the trace), `cpu_m`, `mem_mib` and `app`. A share of all apps is
kept with all of their pods, so that bursts stay bursts.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from benchmarks.snapshots import VARIABLE
from benchmarks.workloads import RESOURCES, catalogue
from growth.errors import Misconfigured
from reconciler.solver import Effort
from reconciler.solver.model.problem import PodClass, Problem
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

UNKNOWN: Final = f"{VARIABLE} doesn't name a folder with this trace: "
BETWEEN_PLANS: Final = 900.0
"""Seconds between two plans of the clairvoyant."""
MONEY: Final = 1_000_000


class PodSize(NamedTuple):
    """What a pod requests."""

    cpu: int
    """Millicores."""
    memory: int
    """MiB."""

    @property
    def requests(self) -> dict[str, str]:
        """The same as a manifest says it."""
        return {"cpu": f"{self.cpu}m", "memory": f"{self.memory}Mi"}


class TracedPod(NamedTuple):
    """One pod of a trace."""

    name: str
    begins: float
    ends: float
    size: PodSize


def traced_pods(
    trace: str, *, one_of: int, until: float, largest: PodSize
) -> tuple[TracedPod, ...]:
    """The pods of one app in so many; those larger than anything that is sold are left out."""
    path = Path(os.environ.get(VARIABLE, "")) / f"{trace}.jsonl.gz"
    if not os.environ.get(VARIABLE) or not path.exists():
        raise Misconfigured(f"{UNKNOWN}{trace}")
    return tuple(_read(path, one_of=one_of, until=until, largest=largest))


def _read(path: Path, *, one_of: int, until: float, largest: PodSize) -> Iterator[TracedPod]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            told = json.loads(line)
            size = PodSize(told["cpu_m"], told["mem_mib"])
            is_kept = crc32(str(told["app"]).encode()) % one_of == 0
            fits = size.cpu <= largest.cpu and size.memory <= largest.memory
            if is_kept and fits and told["t"] < until:
                ends = until if told["end"] is None else told["end"]
                yield TracedPod(f"pod-{number}", told["t"], ends, size)


def bound_over_time(pods: Sequence[TracedPod], types: Collection[str], *, until: float) -> float:
    """What nobody can pay less than: the sum of the bounds for the pods of each moment."""
    paid, moment = 0.0, 0.0
    known: dict[frozenset[tuple[PodSize, int]], float] = {}
    while moment < until:
        alive = Counter(pod.size for pod in pods if pod.begins <= moment < pod.ends)
        key = frozenset(alive.items())
        if key not in known:
            known[key] = _bound(alive, types)
        paid += known[key] * min(BETWEEN_PLANS, until - moment)
        moment += BETWEEN_PLANS
    return paid / 3600


def _bound(alive: Counter[PodSize], types: Collection[str]) -> float:
    """The lowest possible cost per hour of machines for them."""
    offers = tuple(each for each in catalogue("hetzner", 0) if each.type in types)
    usable = frozenset(each.name for each in offers)
    classes = tuple(
        PodClass(
            name=f"c{size.cpu}-m{size.memory}",
            requests=(size.cpu, size.memory, 1, 0),
            count=count,
            offers=usable,
        )
        for size, count in sorted(alive.items())
    )
    problem = Problem(resources=RESOURCES, offers=offers, classes=classes)
    return solve(problem, Effort.QUICK).bound / MONEY if classes else 0.0
