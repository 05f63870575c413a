"""Makes spreads over nodes hold: moves pods from full nodes to empty ones, then takes some out.

Packing follows an assumption about the emptiest node, so a few nodes may be fuller than the rule
allows. A pod moves only where no other rule is affected.
"""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from reconciler.solver.model.draft_node import DraftNode
from reconciler.solver.model.problem import HOSTNAME, Apart, Near, SpreadRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reconciler.solver.model.problem import PodClass, Problem
    from reconciler.solver.model.spreads import NodeSpread

DONORS = 8
"""The number of the fullest nodes that are asked for a pod."""


def level_of(spread: NodeSpread, node: DraftNode) -> int:
    """The pods of a group on a node, with those that run there already."""
    before = spread.standing.get(node.offer.name, 0) if node.offer.exists else 0
    return before + added_to(spread, node)


def added_to(spread: NodeSpread, node: DraftNode) -> int:
    """The pods of a group that a plan puts on a node."""
    return sum(node.pods[name] for name in spread.rule.members)


def lowest_in(spread: NodeSpread, nodes: Sequence[DraftNode]) -> int:
    """What the emptiest node counts, with the nodes of a plan."""
    own = [node for node in nodes if node.is_there and spread.counts(node.offer)]
    used = {node.offer.name for node in own if node.offer.exists}
    others = (n for name, n in spread.standing.items() if name not in used)
    return spread.lowest([*(level_of(spread, node) for node in own), *others])


def keeps_spread(spread: NodeSpread, nodes: Sequence[DraftNode]) -> bool:
    """Whether no node that gets a pod of the group is fuller than the spread allows."""
    most = lowest_in(spread, nodes) + spread.rule.max_skew
    return all(level_of(spread, node) <= most for node in nodes if added_to(spread, node))


def cut_to_level(problem: Problem, spread: NodeSpread, nodes: Sequence[DraftNode]) -> bool:
    """Take the least important pods out of nodes that are too full; returns whether any was."""
    most = lowest_in(spread, nodes) + spread.rule.max_skew
    priority = {pod.name: pod.priority for pod in problem.classes}
    changed = False
    for node in nodes:
        over = level_of(spread, node) - most
        members = sorted(spread.rule.members & node.pods.keys(), key=lambda n: (priority[n], n))
        for name in members:
            gone = min(over, node.pods[name])
            if gone > 0:
                node.pods -= Counter({name: gone})
                over -= gone
                changed = True
    return changed


def level(problem: Problem, spread: NodeSpread, nodes: Sequence[DraftNode]) -> list[DraftNode]:
    """The nodes with pods moved until the spread holds, as far as there is room.

    Existing nodes that get pods by it are added.
    """
    if keeps_spread(spread, nodes):
        return list(nodes)
    used = {node.offer.name for node in nodes if node.offer.exists}
    spare = [
        DraftNode(offer, Counter(), kept=False)
        for offer in problem.offers
        if offer.exists and offer.name in spread.standing and offer.name not in used
    ]
    return _Levels(problem, spread, [*nodes, *spare]).levelled()


class _Levels:
    """The nodes of a plan as domains, with the room that is left on them."""

    def __init__(self, problem: Problem, spread: NodeSpread, nodes: list[DraftNode]) -> None:
        self.problem = problem
        self.spread = spread
        self.nodes = nodes
        self.classes = {pod.name: pod for pod in problem.classes}
        self.level = [level_of(spread, node) for node in nodes]
        self.room = [self._room(node) for node in nodes]

    def _room(self, node: DraftNode) -> list[int]:
        room = list(node.offer.capacity)
        for name, count in node.pods.items():
            for r, amount in enumerate(self.classes[name].requests):
                room[r] -= amount * count
        return room

    def levelled(self) -> list[DraftNode]:
        """Fill the emptiest nodes from the fullest, until none can be filled any more."""
        counted = [
            i
            for i, node in enumerate(self.nodes)
            if node.is_there and self.spread.counts(node.offer)
        ]
        empty = [(self.level[i], i) for i in counted]
        full = [(-self.level[i], i) for i in counted if added_to(self.spread, self.nodes[i])]
        heapify(empty)
        heapify(full)
        while empty and full:
            _, i = heappop(empty)
            # A node that can't be filled decides how full the others may be.
            if not self._filled(i, full):
                break
            heappush(empty, (self.level[i], i))
            heappush(full, (-self.level[i], i))
        return self.nodes

    def _filled(self, i: int, full: list[tuple[int, int]]) -> bool:
        """Move one pod to a node from one of the fullest; returns whether one was found."""
        asked: list[int] = []
        found = False
        while full and len(asked) < DONORS and not found:
            height, donor = heappop(full)
            if -height != self.level[donor]:  # it has changed since, and stands here once more
                continue
            if self.level[donor] < self.level[i] + 2:
                break
            asked.append(donor)
            found = self._moved(donor, i)
        for donor in asked:
            if added_to(self.spread, self.nodes[donor]):
                heappush(full, (-self.level[donor], donor))
        return found

    def _moved(self, donor: int, i: int) -> bool:
        giving, taking = self.nodes[donor], self.nodes[i]
        for name in sorted(self.spread.rule.members & (+giving.pods).keys()):
            pod = self.classes[name]
            if self._fits(pod, i) and self._may_move(pod, giving, taking):
                giving.pods -= Counter({name: 1})
                taking.pods[name] += 1
                self.level[donor] -= 1
                self.level[i] += 1
                self.room[donor] = self._room(giving)
                self.room[i] = self._room(taking)
                return True
        return False

    def _fits(self, pod: PodClass, i: int) -> bool:
        return all(need <= room for need, room in zip(pod.requests, self.room[i], strict=True))

    def _may_move(self, pod: PodClass, giving: DraftNode, taking: DraftNode) -> bool:
        """Whether no rule but this spread is affected."""
        offer = taking.offer
        if offer.name not in pod.offers or offer.marks & pod.repels or offer.repels & pod.marks:
            return False
        if pod.per_node is not None and taking.pods[pod.name] >= pod.per_node:
            return False
        others = [self.classes[name] for name in +taking.pods]
        if any(each.marks & pod.repels or each.repels & pod.marks for each in others):
            return False
        return all(self._stays_true(pod, giving, taking))

    def _stays_true(self, pod: PodClass, giving: DraftNode, taking: DraftNode) -> Iterator[bool]:
        for group in self.problem.groups:
            anchors = group.anchors if isinstance(group, Near) else frozenset[str]()
            if pod.name not in group.members | anchors or group.name == self.spread.rule.name:
                continue
            if group.key != HOSTNAME:
                yield _domain(giving, group.key) == _domain(taking, group.key)
            elif isinstance(group, Apart):
                there = sum(taking.pods[name] for name in group.members)
                before = group.running.get(taking.offer.name, 0) if taking.offer.exists else 0
                yield there + before < group.most
            else:
                yield isinstance(group, SpreadRule)


def _domain(node: DraftNode, key: str) -> str:
    labels: Mapping[str, str] = node.offer.labels
    return labels.get(key, "")
