"""The manager of fleets, for a management cluster with Cluster API.

Start it with `python -m fleet` or growth-fleet. One process leads; others wait.
"""

from __future__ import annotations

import sys

from fleet.process.managing import manage
from fleet.settings import FleetSettings
from growth.service import process

PROCESS = process.Process(
    name="growth-fleet",
    purpose="scales clusters that report their capacity, and creates and deletes whole clusters",
    settings=FleetSettings,
    parts={"manage": manage},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
