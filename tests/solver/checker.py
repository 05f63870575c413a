"""Judges a plan against its problem, from the words of the problem alone.

Shares no code with the solver beyond the plain data of Problem and Plan: what it knows about the
rules is written here a second time, in the slowest and plainest way.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import HOSTNAME, Apart, Group, Near, SpreadRule, Together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.solver.model.plan import Plan, PlannedNode
    from reconciler.solver.model.problem import Offer, PodClass, Problem


def complaints(problem: Problem, plan: Plan) -> list[str]:
    """Everything that is wrong with a plan; an empty list for a good one."""
    offers = {offer.name: offer for offer in problem.offers}
    classes = {pod.name: pod for pod in problem.classes}
    wrong = _pods_wrong(problem, plan)
    for number, node in enumerate(plan.nodes):
        about = f"node {number} ({node.offer})"
        wrong += [f"{about}: {what}" for what in _node_wrong(node, offers[node.offer], classes)]
    wrong += _counts_wrong(problem, plan, offers)
    for group in problem.groups:
        wrong += _group_wrong(group, problem, plan)
    wrong += _money_wrong(plan, offers)
    return wrong


def _pods_wrong(problem: Problem, plan: Plan) -> list[str]:
    placed: Counter[str] = Counter()
    for node in plan.nodes:
        placed.update(node.pods)
    missing = Counter({one.pod_class: one.count for one in plan.unplaced})
    priority = {pod.name: pod.priority for pod in problem.classes}
    wrong = [
        f"class {pod.name}: {placed[pod.name]} placed and {missing[pod.name]} not, of {pod.count}"
        for pod in problem.classes
        if placed[pod.name] + missing[pod.name] != pod.count or missing[pod.name] < 0
    ]
    wrong += [f"class {one.pod_class}: no reason" for one in plan.unplaced if not one.reason.text]
    wrong += [
        f"class {one.pod_class}: priority {one.priority}"
        for one in plan.unplaced
        if one.priority != priority.get(one.pod_class)
    ]
    known = {pod.name for pod in problem.classes}
    wrong += [f"class {name} was never asked for" for name in sorted(set(placed) - known)]
    return wrong


def _node_wrong(node: PlannedNode, offer: Offer, classes: dict[str, PodClass]) -> list[str]:
    wrong = []
    for resource, room in enumerate(offer.capacity):
        used = sum(classes[name].requests[resource] * n for name, n in node.pods.items())
        if used > room:
            wrong.append(f"resource {resource}: {used} > {room}")
    for name, count in node.pods.items():
        pod = classes[name]
        if count < 1:
            wrong.append(f"{count} pods of {name}")
        if offer.name not in pod.offers:
            wrong.append(f"{name} may not be here")
        if pod.per_node is not None and count > pod.per_node:
            wrong.append(f"{count} of {name}, at most {pod.per_node}")
        if offer.marks & pod.repels or offer.repels & pod.marks:
            wrong.append(f"{name} and what runs here repel each other")
    return wrong + _repulsion_wrong(node, classes)


def _repulsion_wrong(node: PlannedNode, classes: dict[str, PodClass]) -> list[str]:
    wrong = []
    for one, other in combinations_with_replacement(sorted(node.pods), 2):
        if one == other and node.pods[one] < 2:
            continue
        if classes[one].repels & classes[other].marks or classes[other].repels & classes[one].marks:
            wrong.append(f"{one} and {other} repel each other")
    return wrong


def _counts_wrong(problem: Problem, plan: Plan, offers: dict[str, Offer]) -> list[str]:
    wrong = []
    taken = Counter(node.offer for node in plan.nodes)
    for name, count in taken.items():
        most = 1 if offers[name].exists else offers[name].most
        if most is not None and count > most:
            wrong.append(f"{count} nodes of {name}, at most {most}")
    new = {name: count for name, count in taken.items() if not offers[name].exists}
    for limit in problem.limits:
        used = sum(limit.amounts.get(name, 0) * count for name, count in new.items())
        if used > limit.most:
            wrong.append(f"limit {limit.name}: {used} > {limit.most}")
    for minimum in problem.minima:
        have = sum(taken[name] for name in minimum.offers)
        if have < minimum.count:
            wrong.append(f"minimum {minimum.name}: {have} < {minimum.count}")
    return wrong


def domain_of(group: Group, offer: Offer, number: int) -> str:
    """Where a node lies in the eyes of a group; each new node is a domain of its own."""
    if group.key == HOSTNAME:
        return offer.name if offer.exists else f"{offer.name} #{number}"
    return offer.labels.get(group.key, "")


def _group_wrong(group: Group, problem: Problem, plan: Plan) -> list[str]:
    offers = {offer.name: offer for offer in problem.offers}
    if isinstance(group, Near):
        return near_complaints(
            group,
            members=_domains_with(group.members, group, plan, offers),
            anchors=_domains_with(group.anchors, group, plan, offers),
        )
    counted = counted_by(group, problem)
    added: Counter[str] = Counter()
    for number, node in enumerate(plan.nodes):
        count = sum(node.pods.get(name, 0) for name in group.members)
        if count or node.offer in counted:
            added[domain_of(group, offers[node.offer], number)] += count
    return group_complaints(group, problem, added)


def _domains_with(
    names: frozenset[str], group: Group, plan: Plan, offers: dict[str, Offer]
) -> set[str]:
    return {
        domain_of(group, offers[node.offer], number)
        for number, node in enumerate(plan.nodes)
        if names & node.pods.keys()
    }


def near_complaints(group: Near, *, members: set[str], anchors: set[str]) -> list[str]:
    """What is wrong with followers and anchors in these domains."""
    return [
        f"group {group.name}: followers in {domain or 'no domain'} without an anchor"
        for domain in sorted(members)
        if not domain or domain not in anchors | group.running
    ]


def counted_by(group: Group, problem: Problem) -> set[str]:
    """The offers whose nodes are domains of a group, also without any of its pods."""
    also = group.counted if isinstance(group, SpreadRule) else frozenset[str]()
    return open_to(group, problem) | also


def open_to(group: Group, problem: Problem) -> set[str]:
    """The offers that pods of a group may use."""
    return {n for pod in problem.classes if pod.name in group.members for n in pod.offers}


def group_complaints(
    group: SpreadRule | Apart | Together, problem: Problem, added: Counter[str]
) -> list[str]:
    """What is wrong with so many more pods of a group in the domain of each node of a plan.

    A node that the group may use counts as a domain, also if it gets none of its pods.
    """
    taken = [domain for domain, count in added.items() if count]
    if "" in taken:
        return [f"group {group.name}: pods on a node without the label {group.key}"]
    if isinstance(group, Together):
        return [f"group {group.name}: in {len(taken)} domains"] if len(taken) > 1 else []
    level = Counter(dict(group.running))
    level.update(added)
    if isinstance(group, Apart):
        return [
            f"group {group.name}: {level[domain]} in {domain}, at most {group.most}"
            for domain in taken
            if level[domain] > group.most
        ]
    domains = _domains(group, problem, added)
    lowest = min((level[domain] for domain in domains), default=0)
    lowest = lowest if len(domains) >= group.min_domains else 0
    return [
        f"group {group.name}: {level[domain]} in {domain}, {lowest} in the emptiest"
        for domain in taken
        if level[domain] - lowest > group.max_skew
    ]


def _domains(group: SpreadRule, problem: Problem, added: Iterable[str]) -> set[str]:
    """All domains that a spread counts; over nodes these are the ones there are and the bought."""
    usable = [offer for offer in problem.offers if offer.name in open_to(group, problem)]
    if group.key == HOSTNAME:
        there = {*added, *(offer.name for offer in usable if offer.exists)}
    else:
        there = {offer.labels.get(group.key, "") for offer in usable}
    return (there | group.domains | set(group.running)) - {""}


def _money_wrong(plan: Plan, offers: dict[str, Offer]) -> list[str]:
    cost = sum(0 if offers[n.offer].exists else offers[n.offer].price for n in plan.nodes)
    wrong = [] if cost == plan.cost else [f"cost {plan.cost}, but the nodes cost {cost}"]
    if plan.cost < plan.bound:
        wrong.append(f"cost {plan.cost} is below the bound {plan.bound}")
    return wrong
