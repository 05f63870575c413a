"""Turns arrays back into names: the offer of each node, and the classes of its pods.

Merged lots are handed out in order. Equal offers take turns, those of the lowest rank first. If
some pods of a spread found no place, the spread may be out of balance; then pods are taken out of
the fullest domains until it holds again. In the same way, followers are taken out of a domain in
which their anchor found no place.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reconciler.solver.model.draft_node import DraftNode
from reconciler.solver.model.levelling import cut_to_level, level
from reconciler.solver.model.problem import HOSTNAME, Near, SpreadRule
from reconciler.solver.model.spreads import node_spreads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reconciler.solver.arrays.draft import Draft
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.problem import Offer, Problem


def assemble(problem: Problem, table: Table, draft: Draft) -> list[DraftNode]:
    """The nodes of a draft with their pods by class; all rules hold."""
    units = [_units(table, k) for k in range(table.classes)]
    offers = {offer.name: offer for offer in problem.offers}
    copies = [_copies(names, offers) for names in table.names]
    nodes = []
    used: Counter[int] = Counter()
    single = draft.singles()
    for o, counts in zip(single.offers.tolist(), single.counts, strict=True):
        pods: Counter[str] = Counter()
        for k in counts.nonzero()[0].tolist():
            for _ in range(int(counts[k])):
                pods.update(next(units[k]))
        used[o] += 1
        # A draft of the exact program has a node without pods only where a minimum requires it.
        nodes.append(DraftNode(offers[next(copies[o])], pods, kept=bool(table.sunk[o]) or not pods))
    nodes += _empty_but_paid(table, used, copies=copies, offers=offers)
    nodes = with_rules_kept(problem, nodes)
    return [node for node in nodes if node.pods or (node.kept and not node.offer.exists)]


def _units(table: Table, k: int) -> Iterator[Mapping[str, int]]:
    for lot in table.lots[k]:
        pods = dict(lot.pods)
        for _ in range(lot.count):
            yield pods


def _copies(names: Sequence[tuple[str, int]], offers: Mapping[str, Offer]) -> Iterator[str]:
    """The names of equal offers, each as often as it can be bought."""
    # Prices can be equal while a provider trusts one type more. Sorting by name alone lost that
    # order of Hetzner's catalogue.
    for rank in sorted({offers[name].rank for name, _ in names}):
        yield from _in_turn({name: most for name, most in names if offers[name].rank == rank})


def _in_turn(left: dict[str, int]) -> Iterator[str]:
    while left:
        for name in list(left):
            yield name
            left[name] -= 1
            if not left[name]:
                del left[name]


def _empty_but_paid(
    table: Table,
    used: Counter[int],
    *,
    copies: Sequence[Iterator[str]],
    offers: Mapping[str, Offer],
) -> list[DraftNode]:
    return [
        DraftNode(offers[next(copies[o])], Counter(), kept=True)
        for o in table.sunk.nonzero()[0].tolist()
        for _ in range(int(table.most[o]) - used[o])
    ]


def with_rules_kept(problem: Problem, nodes: list[DraftNode]) -> list[DraftNode]:
    """The nodes with pods moved, and some taken out, until all spreads hold and none is stranded.

    Each round takes a pod out, so it ends.
    """
    by_node = node_spreads(problem)
    for each in by_node:
        nodes = level(problem, each, nodes)
    while (
        _level_spreads(problem, nodes)
        or any(cut_to_level(problem, each, nodes) for each in by_node)
        or _take_out_stranded(problem, nodes)
    ):
        pass
    return nodes


def _level_spreads(problem: Problem, nodes: Sequence[DraftNode]) -> bool:
    """Take a pod out if a spread doesn't hold; returns whether there was one."""
    spreads = [g for g in problem.groups if isinstance(g, SpreadRule) and g.key != HOSTNAME]
    return any(_take_out_one(problem, spread, nodes) for spread in spreads)


def _take_out_stranded(problem: Problem, nodes: Sequence[DraftNode]) -> bool:
    """Take out all followers in domains without an anchor; returns whether there were any."""
    found = False
    for group in problem.groups:
        if isinstance(group, Near):
            open_to = group.running | anchored_domains(group, nodes)
            for number, node in enumerate(nodes):
                stranded = group.members & node.pods.keys()
                if stranded and _domain(group, node, number) not in open_to:
                    node.pods -= Counter({name: node.pods[name] for name in stranded})
                    found = True
    return found


def anchored_domains(group: Near, nodes: Sequence[DraftNode]) -> set[str]:
    """The domains of the nodes that hold an anchor of the group."""
    return {
        _domain(group, node, number)
        for number, node in enumerate(nodes)
        if any(node.pods[name] for name in group.anchors)
    } - {""}


def _domain(group: Near, node: DraftNode, number: int) -> str:
    """The domain of a node; each new node is one of its own to a rule about nodes."""
    if group.key == HOSTNAME:
        return node.offer.name if node.offer.exists else f"new node {number}"
    return node.offer.labels.get(group.key, "")


def _take_out_one(problem: Problem, spread: SpreadRule, nodes: Sequence[DraftNode]) -> bool:
    """Take the least important pod out of a domain that is too full, if there is one."""
    level = _levels(problem, spread, nodes)
    lowest = min(level.values(), default=0)
    priority = {pod.name: pod.priority for pod in problem.classes}
    for node in reversed(nodes):
        members = sorted(spread.members & node.pods.keys(), key=lambda name: (priority[name], name))
        domain = node.offer.labels.get(spread.key, "")
        if members and level[domain] - lowest > spread.max_skew:
            node.pods -= Counter({members[0]: 1})
            return True
    return False


def domains_of(problem: Problem, spread: SpreadRule) -> set[str]:
    """The domains that count: those listed, those with pods, and those that a member may use."""
    open_to = {n for pod in problem.classes if pod.name in spread.members for n in pod.offers}
    offered = {o.labels.get(spread.key, "") for o in problem.offers if o.name in open_to}
    return (offered | spread.domains | set(spread.running)) - {""}


def _levels(problem: Problem, spread: SpreadRule, nodes: Sequence[DraftNode]) -> dict[str, int]:
    """How many pods of the group each domain holds in the plan."""
    level = dict.fromkeys(sorted(domains_of(problem, spread)), 0)
    level.update(spread.running)
    for node in nodes:
        domain = node.offer.labels.get(spread.key, "")
        members = sum(node.pods[name] for name in spread.members)
        if members:
            level[domain] = level.get(domain, 0) + members
    return level
