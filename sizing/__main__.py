"""The process that sizes workloads by their Hvpas.

Start it with `python -m sizing` or growth-sizing. One process leads; others wait.
"""

from __future__ import annotations

import sys

from growth.service import process
from sizing.process.observing import observe_workloads
from sizing.settings import SizingSettings

PROCESS = process.Process(
    name="growth-sizing",
    purpose="decides how many replicas of what size workloads with an Hvpa should have",
    settings=SizingSettings,
    parts={"size": observe_workloads},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
