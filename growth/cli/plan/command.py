"""`growth plan`: what growth would buy for a set of manifests, and what it would cost.

It needs no cluster. The files contain pods or workloads, pools, node classes, and existing nodes if
there are any; the rules and the solver are the same as in a cluster. With `--from-cluster` the plan
starts from the current state, and the files are a what-if on top of it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

import yaml

from growth.cli.cluster.connecting import add_connection_arguments
from growth.cli.cluster.lists import tell_left_out
from growth.cli.support import not_installed
from growth.cli.terminal import inputs
from growth.cli.terminal.escaping import OVERWRITE, write_control
from growth.cli.terminal.money import hourly
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from growth.cli.plan.printing import PlanReport
    from reconciler.paper.consolidated import RenewalOnPaper as Consolidated
    from reconciler.solver import Plan

SHOW_AFTER = 1.0
"""Seconds before the first progress line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "subject",
        nargs="?",
        choices=("hvpa",),
        help="hvpa: show instead which replicas and sizes an Hvpa gives a workload under a load, "
        "or with --from-cluster what it would do now",
    )
    files = inputs.add_files_argument(parser)
    files.required, files.default = False, []
    parser.add_argument(
        "--load",
        metavar="RESOURCE=LOWEST..HIGHEST",
        nargs="+",
        action="extend",
        default=[],
        help="for hvpa: the load of one container in all pods, such as cpu=0..12 or "
        "memory=1Gi..64Gi; several rise and fall together",
    )
    parser.add_argument(
        "--container",
        metavar="NAME",
        help="for hvpa: the container with the load (default: the first one)",
    )
    parser.add_argument(
        "--from-cluster",
        action="store_true",
        help="start from the current state of the cluster, which is only read; -f adds to it",
    )
    parser.add_argument(
        "--from-bundle",
        metavar="FILE",
        help="start from the cluster state in a file that growth bundle wrote",
    )
    parser.add_argument(
        "--consolidate",
        action="store_true",
        help="show which nodes could be removed or replaced by cheaper ones, without doing it",
    )
    parser.add_argument(
        "--policy",
        choices=("Demand", "Utilisation", "Desired", "all"),
        help="show what the pools would buy if they followed this scaling policy, or each of them, "
        "and what it would cost per hour and per day",
    )
    parser.add_argument(
        "--catalogue",
        metavar="FILE",
        help="file with Hetzner's prices, written by growth catalogue save (default: the price "
        "list shipped with growth)",
    )
    parser.add_argument(
        "--replicas",
        choices=("min", "max"),
        default="min",
        help="for workloads with a HorizontalPodAutoscaler: plan its minimum (default) or maximum "
        "number of pods",
    )
    parser.add_argument(
        "--effort",
        choices=("quick", "normal", "thorough"),
        default="thorough",
        help="how long to search for a cheaper plan and a tighter bound (default: thorough)",
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "yaml", "requests"),
        default="text",
        help="output format: text (default), json, yaml, or the NodeRequests",
    )
    add_connection_arguments(parser)
    parser.epilog = (
        "For example: growth plan -f docs/examples/hetzner -f my-app/, "
        "growth plan --from-cluster -f bigger.yaml, "
        "growth plan --consolidate --from-cluster, "
        "or growth plan hvpa -f docs/examples/sizing --load cpu=0..12"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the plan. The exit code is 1 if a pod has no place."""
    if arguments.subject == "hvpa":
        return _staircase()(arguments)
    if arguments.load or arguments.container:
        raise Misconfigured("growth plan: --load and --container are for growth plan hvpa")
    if arguments.from_cluster and arguments.from_bundle:
        raise Misconfigured("growth plan: use either --from-cluster or --from-bundle")
    if not (arguments.files or arguments.from_cluster or arguments.from_bundle):
        raise Misconfigured("growth plan: nothing to plan: use -f FILE, --from-cluster, or both")
    if arguments.consolidate and arguments.policy:
        raise Misconfigured("growth plan: use either --consolidate or --policy")
    if arguments.consolidate:
        return _consolidate(arguments)
    if arguments.policy:
        return _policies()(arguments)
    planned = _planner()
    begun = time.monotonic()
    plan = planned(arguments)
    _print(plan, arguments.output, seconds=time.monotonic() - begun)
    return 1 if plan.paper.unplaced else 0


def _consolidate(arguments: argparse.Namespace) -> int:
    """Print which nodes could be removed or replaced by cheaper ones."""
    consolidated = _consolidator()
    begun = time.monotonic()
    paper = consolidated(arguments)
    from growth.cli.plan import consolidation as printing  # noqa: PLC0415 - with the rest

    seconds = time.monotonic() - begun
    match arguments.output:
        case "json":
            print(json.dumps(printing.consolidation_document(paper, seconds=seconds), indent=2))
        case "yaml":
            document = printing.consolidation_document(paper, seconds=seconds)
            print(yaml.safe_dump(document, sort_keys=False), end="")
        case "requests":
            documents = [request.document() for request in paper.comes]
            print(yaml.safe_dump_all(documents, sort_keys=False), end="")
        case _:
            print("\n".join(printing.consolidation_table(paper, seconds=seconds)))
    return 0


def _staircase() -> Callable[[argparse.Namespace], int]:
    try:
        from growth.cli.plan.stairs import print_stairs  # noqa: PLC0415 - see below
    except ModuleNotFoundError as error:
        raise not_installed(error, command="plan") from None
    return print_stairs


def _policies() -> Callable[[argparse.Namespace], int]:
    try:
        from growth.cli.plan.policies import print_policies  # noqa: PLC0415 - see below
    except ModuleNotFoundError as error:
        raise not_installed(error, command="plan") from None
    return print_policies


def _consolidator() -> Callable[[argparse.Namespace], Consolidated]:
    try:
        from growth.cli.plan.reading import consolidating, plan_reading  # noqa: PLC0415 - see below
    except ModuleNotFoundError as error:
        raise not_installed(error, command="plan") from None

    def consolidate(arguments: argparse.Namespace) -> Consolidated:
        read = plan_reading(arguments)
        tell_left_out(read.unreadable)
        return consolidating(read.world, effort=arguments.effort, now=read.now)

    return consolidate


def _planner() -> Callable[[argparse.Namespace], PlanReport]:
    """Return the function that plans, imported only here because the engine loads slowly."""
    try:
        from growth.cli.plan.prices import bill_of  # noqa: PLC0415 - see above
        from growth.cli.plan.printing import PlanReport  # noqa: PLC0415
        from growth.cli.plan.reading import plan_for_world, plan_reading  # noqa: PLC0415
        from growth.cli.plan.remarks import remarks_of  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise not_installed(error, command="plan") from None

    def plan(arguments: argparse.Namespace) -> PlanReport:
        read = plan_reading(arguments)
        tell_left_out(read.unreadable)
        paper = plan_for_world(read.world, effort=arguments.effort, now=read.now, watch=_progress())
        return PlanReport(
            paper=paper,
            bill=bill_of(read.world, read.prices),
            remarks=remarks_of(paper, read.manifests),
        )

    return plan


def _progress() -> Callable[[Plan], None]:
    """A line on the terminal that shows the best plan so far."""
    begun = time.monotonic()

    def show(plan: Plan) -> None:
        if sys.stderr.isatty() and time.monotonic() - begun > SHOW_AFTER:
            seconds = time.monotonic() - begun
            text = f"{hourly(plan.cost / 1e6)} per hour, within {plan.gap * 100:.1f} %"
            write_control(OVERWRITE, sys.stderr)
            print(f"{text}, {seconds:.0f} s", end="", file=sys.stderr, flush=True)

    return show


def _print(plan: PlanReport, output: str, *, seconds: float) -> None:
    from growth.cli.plan import printing  # noqa: PLC0415 - with the rest of planning

    if sys.stderr.isatty():
        write_control(OVERWRITE, sys.stderr)
    match output:
        case "json":
            print(json.dumps(printing.plan_document(plan, seconds=seconds), indent=2))
        case "yaml":
            document = printing.plan_document(plan, seconds=seconds)
            print(yaml.safe_dump(document, sort_keys=False), end="")
        case "requests":
            documents = [request.document() for request in plan.paper.requests.values()]
            print(yaml.safe_dump_all(documents, sort_keys=False), end="")
        case _:
            print("\n".join(printing.plan_table(plan, seconds=seconds)))
