"""A cluster after most of its pods have ended: what replacing nodes saves, and how soon.

Clusters are bought at the best price, then 60 % of their pods end at random. The solver knows only
nodes, what each holds, and the cost of moving a pod. `after` is the cost of the cluster when the
answer is carried out, `anew` a plan from scratch for the remaining pods, `bound` the bound of any
plan. Evictions are per remaining pod; `least` is the lowest possible cost of a cluster, according
to the linear program, if at most 0.4 of its pods are moved.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.shrunk import pods_for, shrunk
from reconciler.replacement.worth import NEAR, RELUCTANCE
from reconciler.solver import Effort
from reconciler.solver.model.budget import Budget
from reconciler.solver.packing.solving import solve
from reconciler.solver.renewal.field import field_of
from reconciler.solver.renewal.relax import lean
from reconciler.solver.renewal.renew import renew

if TYPE_CHECKING:
    import argparse

    from reconciler.solver import Renewal

LEFT = 0.4
FEW = 0.4
"""Evictions per remaining pod that count as few."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--seeds", type=int, default=2, help="clusters of each kind")
    parser.add_argument("--nodes", type=int, nargs="*", default=[50, 200, 1000])
    parser.add_argument("--prices", nargs="*", default=["aws", "hetzner"])
    parser.add_argument("--pods", nargs="*", default=["kb", "heavy"])
    parser.add_argument("--effort", choices=("quick", "normal", "thorough"), default="quick")
    parser.add_argument(
        "--eviction", type=float, default=0.1, help="cost of a move, in prices of a mean pod"
    )
    parser.add_argument(
        "--near", type=float, default=NEAR, help="multiple of the bound that is cheap enough"
    )
    parser.add_argument(
        "--reluctance",
        type=float,
        default=RELUCTANCE,
        help="multiple of the cost of a move below that",
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One cluster before and after; money relative to the plan from scratch."""

    nodes: int
    left: int
    before: float
    after: float
    bound: float
    least: float
    evictions: float
    seconds: float


def run(arguments: argparse.Namespace) -> int:
    """Decide about each cluster, and print the results."""
    print("money in parts of a plan from scratch; evictions per remaining pod; medians of seeds")
    print("prices   pods   nodes  pods left  before  after  least  bound  evictions  cpu s  most")
    for prices in arguments.prices:
        for pods in arguments.pods:
            for nodes in arguments.nodes:
                outcomes = [
                    measured(
                        _drawn(arguments, prices=prices, pods=pods, nodes=nodes, seed=seed),
                        Effort[arguments.effort.upper()],
                    )
                    for seed in range(arguments.seeds)
                ]
                print(f"{prices:8} {pods:6} {_line(outcomes)}", flush=True)
    return 0


def _drawn(
    arguments: argparse.Namespace, *, prices: str, pods: str, nodes: int, seed: int
) -> Renewal:
    found = shrunk(
        prices=prices,
        pods=pods,
        count=pods_for(nodes, prices=prices, pods=pods, seed=seed),
        left=LEFT,
        eviction=arguments.eviction,
        seed=seed,
    )
    return replace(found, near=arguments.near, reluctance=arguments.reluctance)


def measured(renewal: Renewal, effort: Effort) -> Outcome:
    """One answer, and the plan from scratch for comparison."""
    begun = time.process_time()
    answer = renew(renewal, effort)
    used = time.process_time() - begun
    gone = set(answer.goes)
    moved = sum(sum(node.holds.values()) for node in renewal.standing if node.offer in gone)
    left = sum(pod.count for pod in renewal.problem.classes)
    buyable = tuple(offer for offer in renewal.problem.offers if not offer.exists)
    anew = solve(replace(renewal.problem, offers=buyable), Effort.NORMAL).cost
    return Outcome(
        nodes=len(renewal.standing),
        left=left,
        before=answer.cost / anew,
        after=(answer.cost - answer.saving) / anew,
        bound=answer.bound / anew,
        least=(answer.cost - _most_saved(renewal, moved=FEW * left)) / anew,
        evictions=moved / left,
        seconds=used,
    )


def _most_saved(renewal: Renewal, *, moved: float) -> float:
    """What no set of nodes that moves this many pods can save, whatever the cost of a move.

    A set that moves fewer gains what it saves minus that cost for each; and no set gains more than
    the program says.
    """
    pods = sum(pod.count for pod in renewal.problem.classes)
    mean = sum(node.price for node in renewal.standing) / pods
    return min(
        _most_gained(renewal, round(mean * share)) + mean * share * moved for share in PRICES
    )


PRICES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.2, 1.6)
"""The cost of a move, in shares of what a remaining pod costs before any node goes."""


def _most_gained(renewal: Renewal, price: int) -> float:
    standing = tuple(
        replace(node, disturbance=price * sum(node.holds.values())) for node in renewal.standing
    )
    field = field_of(replace(renewal, standing=standing))
    return lean(field, Budget(Effort.THOROUGH.value, time.monotonic() + 60)).most


def _line(outcomes: list[Outcome]) -> str:
    def middle(name: str) -> float:
        return float(statistics.median(getattr(one, name) for one in outcomes))

    return (
        f"{middle('nodes'):5.0f} {middle('left'):10.0f} {middle('before'):7.2f}"
        f" {middle('after'):6.2f} {middle('least'):6.2f} {middle('bound'):6.2f}"
        f" {middle('evictions'):10.2f}"
        f" {middle('seconds'):6.2f} {max(one.seconds for one in outcomes):5.2f}"
    )
