"""A cluster after most of its pods are gone: what giving back and replacing nodes saves, how soon.

Clusters are bought at the best price, then 60 % of their pods end at random. Nothing is known of
how they came about: only nodes, what each holds, and what moving a pod costs. `after` is what the
cluster costs when the answer is carried out, `anew` a plan from scratch for the pods that are left,
`bound` what no plan undercuts. Evictions are told for each pod that is left; `least` is what a
cluster costs at least, by the linear program, when no more than 0.4 of its pods are moved.
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
"""Evictions for each pod that is left that are thought to be few."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    parser.add_argument("--seeds", type=int, default=2, help="clusters of each kind")
    parser.add_argument("--nodes", type=int, nargs="*", default=[50, 200, 1000])
    parser.add_argument("--prices", nargs="*", default=["aws", "hetzner"])
    parser.add_argument("--pods", nargs="*", default=["kb", "heavy"])
    parser.add_argument("--effort", choices=("quick", "normal", "thorough"), default="quick")
    parser.add_argument(
        "--eviction", type=float, default=0.1, help="what moving costs, in prices of a mean pod"
    )
    parser.add_argument(
        "--near", type=float, default=NEAR, help="so many times the bound is cheap enough"
    )
    parser.add_argument(
        "--reluctance", type=float, default=RELUCTANCE, help="so many times moving costs there"
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One cluster before and after; money in parts of the plan from scratch."""

    nodes: int
    left: int
    before: float
    after: float
    bound: float
    least: float
    evictions: float
    seconds: float


def run(arguments: argparse.Namespace) -> int:
    """Decide about each cluster, and print what it came to."""
    print("money in parts of a plan from scratch; evictions for each pod left; medians of seeds")
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
    """One answer, and the plan from scratch beside it."""
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
    """What no set of nodes saves that moves so many pods: whatever a pod's move is said to cost.

    A set that moves fewer gains what it saves, less that price for each; and no set gains more
    than the program says.
    """
    pods = sum(pod.count for pod in renewal.problem.classes)
    mean = sum(node.price for node in renewal.standing) / pods
    return min(
        _most_gained(renewal, round(mean * share)) + mean * share * moved for share in PRICES
    )


PRICES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.2, 1.6)
"""Of a move, in shares of what a pod that is left costs before anything goes."""


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
