"""The process that acts: demand becomes machines, and idle machines are given back.

`python -m reconciler`, or growth-reconciler. Pods are admitted and bound without it.
"""

from __future__ import annotations

import sys

from growth.service import process
from growth.service.address import Address
from growth.service.settings import MetricsAddress, ServiceSettings


class ReconcilerSettings(ServiceSettings):
    """What the reconciler process can be told."""

    metrics_address: MetricsAddress = Address(host="", port=10283)


PROCESS = process.Process(
    name="growth-reconciler",
    purpose="turns demand into machines, and idle machines into none",
    settings=ReconcilerSettings,
    parts={},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
