"""The process that acts: demand becomes machines, and idle machines are given back.

`python -m reconciler`, or growth-reconciler. Pods are admitted and bound without it.
"""

from __future__ import annotations

import sys

from growth.api.installed import RECONCILER
from growth.service import process
from reconciler.process.reconciling import reconcile
from reconciler.settings import ReconcilerSettings

PROCESS = process.Process(
    name=RECONCILER,
    purpose="buys machines for demand, and gives back idle ones",
    settings=ReconcilerSettings,
    parts={"reconcile": reconcile},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
