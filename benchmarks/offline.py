"""What `growth plan` says about manifests: its cost, and its bound."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def bound_of(objects: Iterable[dict[str, Any]]) -> float:
    """The lowest possible cost per hour of machines for them."""
    return plan_of(objects)[1]


def plan_of(objects: Iterable[dict[str, Any]]) -> tuple[float, float]:
    """The cost per hour of the planned machines, and the lowest possible cost."""
    words = ["plan", "-f", "-", "-o", "json"]
    given = "\n---\n".join(json.dumps(each) for each in objects)
    done = subprocess.run(
        [sys.executable, "-m", "growth.cli", *words],
        input=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    document = json.loads(done.stdout)
    return document["cost"], document["lowerBound"]
