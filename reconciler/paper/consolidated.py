"""Consolidation on paper: which nodes could go now, and what would come for them.

Search and proof are those of the loop, with two differences: nodes needn't be quiet for a while,
and disruption budgets don't limit the result, because people want to know the whole saving and not
only its first step.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from growth.api.disruption import Consolidation, DisruptionReason
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import INSTANCE_TYPE_LABEL
from growth.keeping.occupants import held_by_pods
from growth.scheduling.pod import Pod
from reconciler.buying.market import market, market_in
from reconciler.buying.offers import Shelf, shelf
from reconciler.buying.refusals import Refusals, refusals
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.ownership import pool_of_node
from reconciler.planning.applying import apply_plan
from reconciler.planning.ledger import PlanningLedger
from reconciler.replacement import asking
from reconciler.replacement.candidates import (
    ReplacementCandidate,
    currency_of_node,
    is_in_use,
    price_of_node,
)
from reconciler.replacement.judging import culprits, is_worth_it, pods_to_move, uids
from reconciler.replacement.kept import kept_from
from reconciler.replacement.ledger import PendingProof
from reconciler.replacement.searching import ReplacementSearch
from reconciler.replacement.worth import HORIZON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.planning.applying import Applied
    from reconciler.solver import Plan, Problem, Renewal, Renewed

    class Answer(Protocol):
        """The solver, for both of its questions."""

        def search(self, question: Renewal) -> Renewed:
            """Which nodes could go."""

        def plan(self, question: Problem) -> Plan:
            """The plan for their pods."""


MOST_ROUNDS = 8
"""The most proofs that may fail before the search ends."""


class Leaving(msgspec.Struct, frozen=True, kw_only=True):
    """A node that would go."""

    name: str
    pool: str
    server_type: str
    price: int
    """Millionths an hour."""
    pods: tuple[Pod, ...]


class Hindrance(msgspec.Struct, frozen=True, kw_only=True):
    """The saving that would be possible without some limits."""

    limits: tuple[str, ...]
    """The limits in the spelling of a pool's fields."""
    pools: tuple[str, ...]
    """The pools with these limits."""
    saving: int
    """Millionths an hour."""


class RenewalOnPaper(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that would go, the machines that would come, and the nodes that stay."""

    goes: tuple[Leaving, ...]
    comes: tuple[NodeRequest, ...]
    cost: int
    """The current cost of all of growth's nodes with this currency per hour, in millionths."""
    held: Mapping[str, str]
    """Nodes that stay for a reason that a person could change, with the reason."""
    idle: tuple[str, ...] = ()
    """Nodes without pods, which go by themselves: no pod is planned onto them."""
    currency: str = ""
    """The currency of all amounts; another is shown only if nothing is cheaper in this one."""
    hindrance: Hindrance | None = None
    """The limits that prevent a saving, if nothing goes."""

    @property
    def saving(self) -> int:
        """Millionths an hour."""
        before = sum(each.price for each in self.goes)
        return before - sum(int(each.spec.price * 1_000_000) for each in self.comes)


def consolidated(world: World, answer: Answer, *, now: Instant) -> RenewalOnPaper:
    """What could be cheaper in this world."""
    items = shelf(world, Shelf())
    known = PlanningLedger(shelf=items, refusals=refusals(Refusals(), world, now)[0])
    return _Looked(world.remembering(replace(world.ledger, planning=known)), answer, now).found()


class _Looked:
    def __init__(self, world: World, answer: Answer, now: Instant) -> None:
        self._world = world
        self._answer = answer
        self._now = now
        self._numbers = itertools.count(1)
        self._scene = scene_of(world)
        self._held: dict[str, str] = {}

    def found(self) -> RenewalOnPaper:
        """The first currency in which something is cheaper: two of them are never compared."""
        candidates = list(self._candidates())
        *others, last = sorted({each.currency for each in candidates} or {""})
        for currency in others:
            paper = self._found_in(currency, candidates)
            if paper.goes:
                return paper
        return self._found_in(last, candidates)

    def _found_in(self, currency: str, candidates: list[ReplacementCandidate]) -> RenewalOnPaper:
        """Search and proof, repeated without nodes whose pods find no place."""
        for _ in range(MOST_ROUNDS):
            names = self._searched(candidates, currency)
            if not names:
                break
            asked, result = self._proven(names, currency)
            misplaced = culprits(asked, result, self._world)
            if not misplaced:
                is_good = is_worth_it(asked, result, self._world, horizon=HORIZON)
                found = (names, result) if is_good else ((), None)
                return self._renewal_on_paper(found, currency)
            self._held |= dict.fromkeys(misplaced, "its pods fit nowhere else by all their rules")
            candidates = [each for each in candidates if each.name not in misplaced]
        return self._renewal_on_paper(((), None), currency)

    def _candidates(self) -> Iterator[ReplacementCandidate]:
        for name, node in sorted(self._world.cluster.nodes.items()):
            pool = self._world.pools.get(pool_of_node(node))
            price = price_of_node(name, self._world)
            pods = self._world.cluster.occupancy(name).keepers
            if pool is None or not price or not pods or not is_in_use(node, self._world):
                continue
            if why := self._stays(node, pool):
                self._held[name] = why
            else:
                yield ReplacementCandidate(
                    node=node,
                    pool=pool,
                    pods=pods,
                    price=price,
                    currency=currency_of_node(name, self._world),
                )

    def _stays(self, node: Node, pool: NodePool) -> str:
        if pool.spec.disruption.consolidation is Consolidation.NEVER:
            return f"pool {pool.name} wants no consolidation"
        kept = kept_from(DisruptionReason.CONSOLIDATION, node, self._scene, self._now)
        kept = kept or held_by_pods(node, self._world.cluster, self._now)
        return "" if kept is None else kept.why

    def _searched(
        self, candidates: Sequence[ReplacementCandidate], currency: str
    ) -> tuple[str, ...]:
        search = ReplacementSearch(
            found=candidates,
            world=self._world,
            now=self._now,
            most={},
            horizon=HORIZON,
            currency=currency,
        )
        return self._answer.search(search.stated()).goes

    def _proven(self, names: tuple[str, ...], currency: str) -> tuple[PendingProof, Applied]:
        world, gone = self._world, frozenset(names)
        pods = pods_to_move(names, world)
        sold = market_in(currency, market(world, self._now))
        question = asking.proof(pods, gone, world, sold)
        asked = PendingProof(
            number=0,
            nodes={name: uids(world.cluster.occupancy(name).keepers) for name in names},
            reason=DisruptionReason.CONSOLIDATION,
            why="",
            question=question,
        )
        return asked, apply_plan(
            self._answer.plan(question.problem),
            question,
            asking.without(world, gone),
            waiting={pod.metadata.uid: pod for pod in asking.unbound(pods)},
            market=market(world, self._now),
            new_id=lambda: UUID(int=next(self._numbers)),
            now=self._now,
        )

    def _renewal_on_paper(
        self, found: tuple[tuple[str, ...], Applied | None], currency: str
    ) -> RenewalOnPaper:
        names, result = found
        world = self._world
        ours = (name for name, node in world.cluster.nodes.items() if pool_of_node(node))
        return RenewalOnPaper(
            goes=tuple(self._leaving(name) for name in sorted(names)),
            comes=() if result is None else tuple(result.requests.values()),
            cost=sum(
                price_of_node(name, world)
                for name in ours
                if currency_of_node(name, world) == currency
            ),
            currency=currency,
            held=self._held,
            idle=asking.idle(world),
        )

    def _leaving(self, name: str) -> Leaving:
        node = self._world.cluster.nodes[name]
        return Leaving(
            name=name,
            pool=pool_of_node(node),
            server_type=node.labels.get(INSTANCE_TYPE_LABEL, ""),
            price=price_of_node(name, self._world),
            pods=self._world.cluster.occupancy(name).keepers,
        )
