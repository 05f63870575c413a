"""The same problem gives the same plan, whatever the order of the input and of sets."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort
from reconciler.solver.model.budget import Budget
from reconciler.solver.packing.solving import _Solve, solve
from tests.solver.problems import ruled

if TYPE_CHECKING:
    from reconciler.solver import Plan, Problem

FINGERPRINT = """
import hashlib
from tests.solver.test_determinism import crowd, facts
from tests.solver.problems import ruled
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve
plans = [solve(crowd(), Effort.QUICK)] + [solve(ruled(seed)) for seed in range(20)]
print(hashlib.sha256(repr([facts(plan) for plan in plans]).encode()).hexdigest())
"""


def crowd() -> Problem:
    """Enough pods that packing, diving and repacking all take part before the budget ends."""
    return workload(
        offers=catalogue("hetzner", 0),
        pods="heavy",
        constraints="on",
        classes=40,
        count=800,
        seed=3,
    )


def facts(plan: Plan) -> tuple[object, ...]:
    """All of a plan but the seconds that it took."""
    nodes = [(node.offer, tuple(node.pods.items()), node.next_best) for node in plan.nodes]
    return nodes, plan.unplaced, plan.cost, plan.bound, plan.stop.value, plan.effort


def _fingerprint(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", FINGERPRINT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_two_processes_with_different_hash_seeds_make_the_same_plans() -> None:
    assert _fingerprint("1") == _fingerprint("4711")


def _shuffled(problem: Problem, seed: int) -> Problem:
    chance = random.Random(seed)
    return replace(
        problem,
        classes=tuple(chance.sample(problem.classes, len(problem.classes))),
        offers=tuple(chance.sample(problem.offers, len(problem.offers))),
        limits=tuple(chance.sample(problem.limits, len(problem.limits))),
        minima=tuple(chance.sample(problem.minima, len(problem.minima))),
        groups=tuple(chance.sample(problem.groups, len(problem.groups))),
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_order_of_the_input_changes_nothing(seed: int) -> None:
    problem = ruled(seed)
    assert facts(solve(problem)) == facts(solve(_shuffled(problem, seed)))


def test_the_order_of_a_large_input_changes_nothing() -> None:
    problem = crowd()
    once = solve(problem, Effort.QUICK)
    assert facts(once) == facts(solve(_shuffled(problem, 5), Effort.QUICK))


def test_a_slow_machine_makes_the_same_plan_as_a_quick_one() -> None:
    """As long as counted work ends the search, no clock is asked what to do."""
    problem = crowd()
    started = time.monotonic()

    def solved_at(slowness: float) -> Plan:
        def clock() -> float:
            return started + slowness * (time.monotonic() - started)

        budget = Budget(Effort.QUICK.value, started + slowness * 3600, clock)
        return _Solve(problem, budget, started, None).run()

    assert facts(solved_at(0.1)) == facts(solved_at(50.0))


@pytest.mark.parametrize("listed", ["aws", "hetzner"])
def test_fifty_thousand_pods_take_no_more_than_two_hundred_megabytes(listed: str) -> None:
    words = ["--count", "50000", "--seed", "0", "--seeds", "1", "--cluster", "empty"]
    words += ["--effort", "quick", "--output", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "solver", "--catalogue", listed, *words],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout.partition("\n")[2])
    assert answer["runs"][0]["unplaced"] == 0
    assert answer["peakMemoryMiB"] <= 200


def test_pandas_is_never_loaded() -> None:
    code = (
        "import sys; from tests.solver.problems import plain;"
        "from reconciler.solver.packing.solving import solve;"
        "solve(plain(1)); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
