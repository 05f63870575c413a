"""Questions to the solver: which nodes could go, and whether their pods find another place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from growth.api.disruption import DisruptionReason
from reconciler.buying.market import market, market_in, nothing_sold
from reconciler.core.actions import Sequence, Solve, lane_subject
from reconciler.core.decision import Decision
from reconciler.replacement import asking
from reconciler.replacement.candidates import currency_of_node
from reconciler.replacement.judging import pods_to_move, uids
from reconciler.replacement.ledger import Confirmation, PendingProof, PendingSearch
from reconciler.replacement.renewing import outdated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.pod import Pod
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.scene import ReplacementScene
    from reconciler.replacement.searching import ReplacementSearch
    from reconciler.replacement.swaps import Swap
    from reconciler.solver import Problem

LANE: Final = "replacement"


def search_asked(
    search: ReplacementSearch, ledger: ReplacementLedger
) -> Decision[ReplacementLedger]:
    """Which of these nodes could go?"""
    number = ledger.number + 1
    return Decision(
        section=replace(ledger, number=number, asked=PendingSearch(number=number)),
        sequences=(_solving(search, number, f"could any of {len(search.here)} nodes go?"),),
    )


def proof_asked(
    nodes: Mapping[str, tuple[Pod, ...]],
    scene: ReplacementScene,
    *,
    reason: DisruptionReason,
    why: str,
) -> Decision[ReplacementLedger]:
    """Do the pods of exactly these nodes find a place?"""
    world, number = scene.world, scene.ledger.number + 1
    pods = [pod for each in nodes.values() for pod in each]
    # What will go for the same reason is no place to go to: pods would be moved twice.
    is_drift = reason is DisruptionReason.DRIFT
    closed = frozenset(outdated(world, scene.now)) if is_drift else frozenset()
    sold = market(world, scene.now)
    if reason is DisruptionReason.CONSOLIDATION:
        # A saving is one only in the currency that the old ones are paid in.
        sold = market_in(currency_of_node(min(nodes), world), sold)
    question = asking.proof(pods, frozenset(nodes), world, sold, closed=closed)
    proof = PendingProof(
        number=number,
        nodes={name: uids(each) for name, each in nodes.items()},
        reason=reason,
        why=why,
        question=question,
    )
    return Decision(
        section=replace(scene.ledger, number=number, asked=proof),
        sequences=(_solving(question.problem, number, f"where would {len(pods)} pods go?"),),
    )


def confirmation_asked(swap: Swap, scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """Do the pods of a swap's old nodes still find a place, now that the new ones serve?"""
    world, number = scene.world, scene.ledger.number + 1
    goers = frozenset(swap.goers(world))
    pods = pods_to_move(sorted(goers), world)
    question = asking.proof(pods, goers, world, nothing_sold(world))
    asked = Confirmation(number=number, swap=swap.text, nodes=goers, question=question)
    return Decision(
        section=replace(scene.ledger, number=number, asked=asked, confirmed_at=scene.now.monotonic),
        sequences=(_solving(question.problem, number, f"may {len(goers)} nodes go now?"),),
    )


def _solving(problem: Problem | ReplacementSearch, number: int, why: str) -> Sequence:
    solve = Solve(lane=LANE, number=number, problem=problem)
    return Sequence(subject=lane_subject(LANE), steps=(solve,), why=why)
