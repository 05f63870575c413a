"""The churn in the simulated world: its three minutes take some seconds.

So a rule can be tried with many seeds. The load is that of the real churn, and the clairvoyant is
the same; a busy machine makes nothing slower.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

import structlog

from benchmarks import manifests, scaledown_stage
from benchmarks.scaledown_bill import MONEY, Clairvoyant
from benchmarks.scaledown_churn import APART, steps
from benchmarks.scaledown_drop import disruption
from benchmarks.scaledown_stage import load
from benchmarks.scaledown_virtual import Virtual
from benchmarks.stages import percentile
from growth.api.written import Duration
from reconciler.core.timing import Timing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

LOOKS: Final = 10
"""The cost of the nodes, in each step."""


def add_arguments(_: argparse.ArgumentParser) -> None:
    """The options of the real churn."""


def measure(arguments: argparse.Namespace) -> None:
    """Buy, and then change the load for some minutes."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    began, before = time.process_time(), load()
    wanted = list(
        manifests.deployments(
            pods=arguments.churn_pods, count=arguments.churn_deployments, seed=arguments.seed
        )
    )
    world = _at_rest(wanted, arguments)
    since, moved, bought = world.now, world.moved, len(world.prices)
    paid, bound = _rescaled(world, wanted, arguments)
    waits = [wait for at, wait in world.waits() if at > since]
    print(
        f"{world.now - since:.0f} virtual s of churn, seed {arguments.seed}: cost over time"
        f" {paid / 3600:.4f}, the clairvoyant's bound {bound / 3600:.4f}: {paid / bound:.3f} x"
        f" (goal <= 1.25)\n"
        f"  {len(waits)} new pods waited p50 {percentile(waits, 50):.2f}, p99"
        f" {percentile(waits, 99):.2f} s (goal <= 3); {world.moved - moved} evictions (goal <= 70);"
        f" {len(world.prices) - bought} nodes bought; {time.process_time() - began:.0f} CPU"
        f" seconds, load {before} to {load()}\n",
        flush=True,
    )


def _at_rest(wanted: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> Virtual:
    """All pods have had their nodes for a while."""
    _, node_class, pool = scaledown_stage.offered(arguments, **disruption(arguments))
    world = Virtual(
        node_class,
        pool,
        ranks=not arguments.without_extender,
        timing=_timing(arguments),
        deletion_cost=arguments.pod_deletion_cost,
    )
    world.begin(wanted)
    return world


def _rescaled(
    world: Virtual, wanted: Sequence[dict[str, Any]], arguments: argparse.Namespace
) -> tuple[float, float]:
    """The cost of the nodes during the churn, and the lowest possible one: hours by seconds."""
    clairvoyant = Clairvoyant(
        prices=arguments.prices,
        seed=arguments.seed,
        pods=arguments.churn_pods,
        deployments=arguments.churn_deployments,
    )
    named = {each["metadata"]["name"]: each for each in wanted}
    replicas = scaledown_stage.replicas_of(wanted)
    paid = bound = 0.0
    for step in steps(replicas, arguments):
        replicas = {**replicas, **step}
        for name, number in step.items():
            world.want(named[name], number)
        for _ in range(LOOKS):
            world.passes(APART / LOOKS)
            paid += world.cost * APART / LOOKS
        bound += clairvoyant.plan(replicas).bound / MONEY * APART
    return paid, bound


def _timing(arguments: argparse.Namespace) -> Timing:
    return Timing(
        bind_wait=Duration.parse(arguments.bind_wait).seconds,
        quiet=Duration.parse(arguments.quiet).seconds,
    )
