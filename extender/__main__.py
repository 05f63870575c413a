"""The extender process: it answers kube-scheduler's calls and streams the demand.

Start it with `python -m extender` or growth-extender. It runs on the control-plane nodes in the
host's network, so the port of its metrics is next to those of the control plane's components.
"""

from __future__ import annotations

import sys

from extender.serving import serve
from extender.settings import ExtenderSettings
from growth.api.installed import EXTENDER
from growth.service import process
from growth.service.endpoints import leave_endpoints_to_a_part

PROCESS = process.Process(
    name=EXTENDER,
    purpose="answers kube-scheduler's calls and streams the demand",
    settings=ExtenderSettings,
    parts={"serve": serve},
    endpoints=leave_endpoints_to_a_part,
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
