"""What `growth plan` says of manifests: what it would pay, and what no purchase undercuts."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def bound_of(objects: Iterable[dict[str, Any]]) -> float:
    """What an hour of machines for them costs at least."""
    return plan_of(objects)[1]


def plan_of(objects: Iterable[dict[str, Any]]) -> tuple[float, float]:
    """What an hour of the planned machines costs, and what of any machines at least."""
    words = ["plan", "-f", "-", "-o", "json"]
    given = "\n---\n".join(json.dumps(each) for each in objects)
    done = subprocess.run(
        [sys.executable, "-m", "growth.cli", *words],
        input=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    document = json.loads(done.stdout)
    return document["cost"], document["lowerBound"]
