"""The solver's answer: a find is proven, a proof becomes a swap, a confirmation opens removals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from growth.api.disruption import DisruptionReason
from reconciler.buying.market import market
from reconciler.core.actions import lane_subject
from reconciler.core.decision import Decision
from reconciler.planning.applying import apply_plan
from reconciler.planning.reading import request_ids
from reconciler.replacement import asking
from reconciler.replacement.beginning import removals_opened, swap_begun
from reconciler.replacement.candidates import candidates, eligible
from reconciler.replacement.consent import asked_again
from reconciler.replacement.going_on import RESTS, rest_after, resting, swap_given_up
from reconciler.replacement.horizon import horizon
from reconciler.replacement.judging import (
    culprits,
    has_changed,
    have_room,
    is_worth_it,
    pods_to_move,
    steadied,
    unsteady,
)
from reconciler.replacement.ledger import Confirmation, PendingProof, PendingSearch
from reconciler.replacement.proving import LANE, proof_asked
from reconciler.replacement.swaps import SwapStage
from reconciler.solver import Plan, Renewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reconciler.core.actions import Solved
    from reconciler.planning.applying import Applied
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.scene import ReplacementScene


def after_solve(scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """The result of the answer, if the lane has finished the question."""
    asked, solved = scene.ledger.asked, scene.world.plans.get(LANE)
    if asked is None or not scene.world.is_free(lane_subject(LANE)):
        return Decision(section=scene.ledger)
    scene = scene.having(replace(scene.ledger, asked=None))
    if solved is None or solved.number != asked.number:
        # It was stopped, since something else was more urgent.
        return _searched_anew(scene)
    match asked:
        case PendingSearch():
            return _found(solved, scene)
        case PendingProof():
            return _proven(asked, solved, scene)
        case Confirmation():
            return _confirmed(asked, solved, scene)
        case _:
            assert_never(asked)


def _searched_anew(scene: ReplacementScene) -> Decision[ReplacementLedger]:
    return Decision(section=replace(scene.ledger, seen=()))


def _found(solved: Solved, scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """The search has an answer: what it found has to be proven."""
    answer = solved.plan
    if not isinstance(answer, Renewed) or not answer.goes or scene.is_moving:
        return Decision(section=scene.ledger)
    nodes = eligible(scene.look, scene.most(DisruptionReason.CONSOLIDATION))
    may_go = {each.name: each.pods for each in candidates(nodes, scene.look)[0] if each.is_quiet}
    # One of them is in use, kept, or beyond a budget by now. The rest of the set wasn't found to
    # pay without it.
    if not may_go.keys() >= set(answer.goes):
        return _searched_anew(scene).waking(scene.budgets_change_at)
    chosen = {name: may_go[name] for name in answer.goes}
    why = "the same pods cost less elsewhere"
    asked = proof_asked(chosen, scene, reason=DisruptionReason.CONSOLIDATION, why=why)
    return asked.waking(scene.budgets_change_at)


def _proven(
    asked: PendingProof, solved: Solved, scene: ReplacementScene
) -> Decision[ReplacementLedger]:
    """The plan for the pods of these nodes is there: it is written down if it is good."""
    world, plan = scene.world, solved.plan
    if not isinstance(plan, Plan) or _is_late(asked, scene):
        return _searched_anew(scene)
    result = _applied(asked, plan, scene)
    if misplaced := culprits(asked, result, world):
        return _proven_without(misplaced, asked, scene, seconds=RESTS)
    steady = steadied(asked, plan, world)
    if steady is None:
        return _without_homeless(asked, plan, scene)
    if steady is not plan:
        # The added machine has to keep the limits of now, too.
        result = _applied(asked, steady, scene)
    lasts, lasts_longer_at = horizon(scene.ledger.regret, world, scene.now)
    is_good = is_worth_it(asked, result, world, horizon=lasts)
    begun = swap_begun(asked, result, scene) if is_good else _without_homeless(asked, plan, scene)
    return begun.waking(lasts_longer_at)


def _is_late(asked: PendingProof, scene: ReplacementScene) -> bool:
    """Whether the world has gone on, so that the answer is about another one."""
    if has_changed(asked, scene.world, scene.now):
        return True
    return asked.reason is not DisruptionReason.UNHEALTHY and scene.is_moving


def _applied(asked: PendingProof, plan: Plan, scene: ReplacementScene) -> Applied:
    pods = pods_to_move(asked.nodes, scene.world)
    return apply_plan(
        plan,
        asked.question,
        asking.without(scene.world, frozenset(asked.nodes)),
        waiting={pod.metadata.uid: pod for pod in asking.unbound(pods)},
        market=market(scene.world, scene.now),
        new_id=request_ids(scene.world).__next__,
        now=scene.now,
    )


def _without_homeless(
    asked: PendingProof, plan: Plan, scene: ReplacementScene
) -> Decision[ReplacementLedger]:
    """Nodes stay whose pods the scheduler might find no room for: longer, the more often it is."""
    homeless = unsteady(asked, plan, scene.world)
    if not homeless:
        return Decision(section=scene.ledger)
    left_over = _counted(scene.ledger.left_over, homeless)
    seconds = rest_after(max(left_over[name] for name in homeless))
    scene = scene.having(replace(scene.ledger, left_over=left_over))
    return _proven_without(homeless, asked, scene, seconds=seconds)


def _counted(before: Mapping[str, int], names: Iterable[str]) -> Mapping[str, int]:
    return {**before, **{name: before.get(name, 0) + 1 for name in names}}


def _proven_without(
    names: frozenset[str], asked: PendingProof, scene: ReplacementScene, *, seconds: float
) -> Decision[ReplacementLedger]:
    """These nodes stay for now; the others may go all the same, and have more room to go to."""
    scene = scene.having(resting(scene.ledger, names, scene.now, seconds=seconds))
    occupancy = scene.world.cluster.occupancy
    others = {name: occupancy(name).keepers for name in asked.nodes if name not in names}
    if not others:
        return Decision(section=scene.ledger)
    return proof_asked(others, scene, reason=asked.reason, why=asked.why)


def _confirmed(
    asked: Confirmation, solved: Solved, scene: ReplacementScene
) -> Decision[ReplacementLedger]:
    world, ledger = scene.world, scene.ledger
    swap = next((each for each in scene.swaps if each.text == asked.swap), None)
    if swap is None or not isinstance(solved.plan, Plan):
        return Decision(section=ledger)
    has_place = have_room(asked.question, solved.plan, world)
    if not has_place and swap.reason is not DisruptionReason.UNHEALTHY:
        return Decision(section=swap_given_up(ledger, swap.text, swap.old(world), scene.now))
    if swap.stage(world) is not SwapStage.READY:
        return Decision(section=ledger)
    asked_about = [name for name in swap.goers(world) if name in asked.nodes]
    consent = asked_again(asked_about, swap.reason, scene, machines=swap.machines)
    if consent.is_refused and asked_about:
        return Decision(section=swap_given_up(ledger, swap.text, swap.old(world), scene.now))
    return removals_opened(consent.goes, swap.reason, scene, said={})
