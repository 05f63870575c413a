"""The process that sizes workloads by their Hvpas.

Start it with `python -m sizing` or growth-sizing. One process leads; others wait.
"""

from __future__ import annotations

import sys

from growth.service import process
from sizing.process.running import size_workloads
from sizing.settings import SizingSettings

PROCESS = process.Process(
    name="growth-sizing",
    purpose="gives workloads with an Hvpa as many replicas of the size that they should have",
    settings=SizingSettings,
    parts={"size": size_workloads},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
