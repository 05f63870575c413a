"""What everything on growth's nodes would cost in a new plan, and the lowest possible cost.

The pods lose their nodes, nodes and pending machines are forgotten, and the ordinary plan is made
with current prices, by the same rules and the same optimiser. Nodes of others stay, with the pods
on them. Pending pods are left out, because they don't cost anything yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import NodeRequest
from growth.cli.cost.spending import Bound
from growth.cli.plan import printing as plan_printing
from growth.cli.plan.prices import prices_from
from growth.cli.plan.reading import plan_for_world, world
from growth.cli.terminal.money import the_currency
from growth.keeping.marks import pool_of_node
from growth.scheduling.emptiness import keeps_its_node
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.pod_spec import PodStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.cli.plan.cluster import SeenCluster
    from growth.instant import Instant
    from growth.scheduling.cluster import Object


def cost_bound(
    seen: SeenCluster, *, catalogue: str | None, effort: str, now: Instant
) -> Bound | None:
    """The plan for everything that runs now; None if it has several currencies."""
    prices = prices_from(catalogue)
    resources = [each for each in seen.resources if not isinstance(each, NodeRequest)]
    anew = world(
        without_our_nodes(seen.objects),
        resources,
        prices,
        config_maps=seen.config_maps,
        now=now,
    )
    paper = plan_for_world(anew, effort=effort, now=now)
    if not plan_printing.is_in_one_currency(paper):
        return None
    return Bound(
        plan_cost=plan_printing.cost_of_plan(paper),
        lower_bound=plan_printing.bound_of(paper),
        unplaced=len(paper.unplaced),
        currency=the_currency(plan_printing.costs_of_plan(paper)),
    )


def without_our_nodes(objects: Iterable[Object]) -> Iterator[Object]:
    """The cluster as if growth had bought nothing and all its pods were pending."""
    known = list(objects)
    ours = {each.name for each in known if isinstance(each, Node) and pool_of_node(each)}
    for each in known:
        match each:
            case Node() if each.name in ours:
                continue
            case Pod():
                yield from _left(each, ours)
            case _:
                yield each


def _left(pod: Pod, ours: set[str]) -> Iterator[Pod]:
    if pod.spec.node_name in ours:
        # DaemonSets put theirs on every new node by themselves.
        if keeps_its_node(pod) and not pod.is_terminating:
            yield _unbound(pod)
    elif pod.spec.node_name:
        yield pod


def _unbound(pod: Pod) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, spec=spec, status=PodStatus(phase="Pending"))
