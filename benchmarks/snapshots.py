"""Real workloads as problems: pods that were alive at one moment, read from a separate folder.

GROWTH_TRACES names the folder. A snapshot is a file `snapshot-NAME.json` with `classes`, each of so
many pods (`count`) with `cpu_m`, `mem_mib` and, if known, `arch`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.workloads import RESOURCES
from reconciler.solver.model.problem import PodClass, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.solver.model.problem import Offer

VARIABLE: Final = "GROWTH_TRACES"
UNSET: Final = f"{VARIABLE} doesn't name a folder with snapshots of real workloads"


def snapshots() -> dict[str, Path]:
    """All snapshots by name; none if no folder is named."""
    folder = os.environ.get(VARIABLE)
    found = sorted(Path(folder).glob("snapshot-*.json")) if folder else []
    return {path.stem.removeprefix("snapshot-"): path for path in found}


def problem_of(path: Path, offers: tuple[Offer, ...]) -> Problem:
    """A snapshot with what may be bought for it."""
    classes = json.loads(path.read_text("utf-8"))["classes"]
    return Problem(resources=RESOURCES, offers=offers, classes=tuple(_classes(classes, offers)))


def _classes(found: list[dict[str, Any]], offers: tuple[Offer, ...]) -> Iterator[PodClass]:
    """Each class on the offers of its architecture; none of them has a GPU."""
    for number, one in enumerate(found):
        wanted = one.get("arch")
        yield PodClass(
            name=f"class-{number:05}",
            requests=(one["cpu_m"], one["mem_mib"], 1, 0),
            count=one["count"],
            offers=frozenset(
                offer.name
                for offer in offers
                if not one["gpu"] and wanted in {None, offer.labels["arch"]}
            ),
        )
