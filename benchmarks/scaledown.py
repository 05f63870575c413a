"""What giving back achieves: idle nodes, a drop of the load, churn, and the cost of each decision.

Parts are measured one after another, each on its own real control plane with simulated machines, or
in the simulated world. `--parts` selects them; use few pods on a busy machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks import (
    scaledown_churn,
    scaledown_decision,
    scaledown_drop,
    scaledown_idle,
    scaledown_rescaled,
    scaledown_stage,
    scaledown_virtual,
)

if TYPE_CHECKING:
    import argparse

_PARTS: Final = {
    "idle": scaledown_idle,
    "drop": scaledown_drop,
    "churn": scaledown_churn,
    "decision": scaledown_decision,
    "virtual": scaledown_virtual,
    "rescaled": scaledown_rescaled,
}
PEERS: Final = """\
  for comparison, measured on such a control plane on 18 Nov 2026 (2 busy cores, 576 offers):
    drop to 40 %      Karpenter 1.14: 1.22 to 1.40 x the bound, steady after 157 to 217 s,
                      0.6 evictions per remaining pod; Cluster Autoscaler 1.36 with timers of
                      30 s: 5.0 x, not steady after 400 s, 0.4
    3 minutes' churn  Karpenter: 1.45 to 1.84 x the bound's cost over time, p99 pending 9 to
                      14 s, 140 evictions; Cluster Autoscaler: 2.9 to 4.2 x, 15 to 23 s, none"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `scaledown`."""
    parser.add_argument(
        "--parts", nargs="+", choices=_PARTS, default=list(_PARTS), help="parts to measure"
    )
    scaledown_stage.add_arguments(parser)
    for part in _PARTS.values():
        part.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    for part in arguments.parts:
        print(f"-- {part}", flush=True)
        _PARTS[part].measure(arguments)
    print(PEERS)
    return 0
