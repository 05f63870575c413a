"""`growth plan --policy`: what each scaling policy would buy for the same pods, side by side."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import yaml

from growth.api.scaling import ScalingPolicyName
from growth.cli.cluster.lists import tell_left_out
from growth.cli.plan.printing import costs_of_plan
from growth.cli.plan.reading import plan_reading, solving
from growth.cli.terminal.money import hourly_each
from growth.cli.terminal.tables import aligned
from reconciler.paper.by_policy import plan_by_policy

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from reconciler.paper.planned import PlanOnPaper

EVERY: Final = "all"
CHOICES: Final = (*map(str, ScalingPolicyName), EVERY)
COLUMNS: Final = ("POLICY", "NODES", "PER HOUR", "PER DAY", "PODS LEFT", "MACHINES")
TO_THE_RIGHT: Final = frozenset({"NODES", "PER HOUR", "PER DAY", "PODS LEFT"})
HOURS_A_DAY: Final = 24


class PolicyPlan(NamedTuple):
    """One policy, and its plan."""

    policy: ScalingPolicyName
    paper: PlanOnPaper


def print_policies(arguments: argparse.Namespace) -> int:
    """Print a line for each policy that is asked about."""
    read = plan_reading(arguments)
    tell_left_out(read.unreadable)
    is_every = arguments.policy == EVERY
    chosen = ScalingPolicyName if is_every else (ScalingPolicyName(arguments.policy),)
    answer = solving(arguments.effort)
    plans = [
        PolicyPlan(policy, plan_by_policy(read.world, policy, answer, now=read.now))
        for policy in chosen
    ]
    match arguments.output:
        case "json":
            print(json.dumps([policy_document(each) for each in plans], indent=2))
        case "yaml":
            documents = [policy_document(each) for each in plans]
            print(yaml.safe_dump(documents, sort_keys=False), end="")
        case "requests":
            requests = [each.document() for plan in plans for each in plan.paper.requests.values()]
            print(yaml.safe_dump_all(requests, sort_keys=False), end="")
        case _:
            print("\n".join(policy_table(plans)))
    return 0


def policy_document(plan: PolicyPlan) -> dict[str, Any]:
    """One policy for programs."""
    costs = costs_of_plan(plan.paper)
    return {
        "policy": str(plan.policy),
        "nodes": len(plan.paper.requests),
        "machines": dict(_machines(plan.paper)),
        "costs": {name: float(cost) for name, cost in costs.items()},
        "costsPerDay": {name: float(cost * HOURS_A_DAY) for name, cost in costs.items()},
        "unplaced": [{"pod": pod.name, "reason": why} for pod, why in plan.paper.unplaced],
    }


def policy_table(plans: Sequence[PolicyPlan]) -> Iterator[str]:
    """The same for people."""
    yield from aligned([COLUMNS, *map(_row, plans)], to_the_right=TO_THE_RIGHT)
    yield ""
    yield "Per day: if the pods stay as they are for 24 hours. A pod is left if it has no place."


def _row(plan: PolicyPlan) -> tuple[str, ...]:
    costs = costs_of_plan(plan.paper)
    days = {name: cost * HOURS_A_DAY for name, cost in costs.items()}
    machines = ", ".join(f"{count} x {name}" for name, count in _machines(plan.paper))
    return (
        str(plan.policy),
        str(len(plan.paper.requests)),
        hourly_each(costs),
        hourly_each(days),
        str(len(plan.paper.unplaced)),
        machines or "none",
    )


def _machines(paper: PlanOnPaper) -> list[tuple[str, int]]:
    found = Counter(str(request.spec.server_type) for request in paper.requests.values())
    return sorted(found.items())
