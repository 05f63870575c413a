"""The next question: first whether a swap may go on, then nodes that must go, then savings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.api.disruption import DisruptionReason
from reconciler.core.actions import lane_subject
from reconciler.core.decision import NEVER, Decision, earliest
from reconciler.facts.ownership import pool_of_node
from reconciler.replacement.at_rest import sight
from reconciler.replacement.candidates import (
    candidates,
    currency_of_node,
    eligible,
    in_turn,
    is_in_use,
    movable,
)
from reconciler.replacement.horizon import horizon
from reconciler.replacement.proving import (
    LANE,
    confirmation_asked,
    proof_asked,
    search_asked,
)
from reconciler.replacement.renewing import next_expiry, outdated
from reconciler.replacement.searching import ReplacementSearch
from reconciler.replacement.swaps import SwapStage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.scene import ReplacementScene
    from reconciler.replacement.swaps import Swap


def next_question(scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """The next question, if none is open and there is anything to ask."""
    if scene.ledger.asked is not None or not scene.world.is_free(lane_subject(LANE)):
        return Decision(section=scene.ledger)
    stages = ((swap, swap.stage(scene.world)) for swap in scene.swaps)
    # A swap that is ready comes first: until it goes on, both its old and its new nodes are paid
    # for.
    ready = next((swap for swap, stage in stages if stage is SwapStage.READY), None)
    return _what_goes(scene) if ready is None else _confirmed_in_time(ready, scene)


def _confirmed_in_time(swap: Swap, scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """Asks whether the swap may go on; after a pause, if its removals couldn't be opened."""
    due = _after(scene.ledger.confirmed_at, scene.world.timing.retry)
    if due > scene.now.monotonic:
        return Decision(section=scene.ledger, wake_at=due)
    return confirmation_asked(swap, scene)


def _what_goes(scene: ReplacementScene) -> Decision[ReplacementLedger]:
    repair = _one_of(scene.sick, DisruptionReason.UNHEALTHY, scene)
    # A repair doesn't wait until the cluster is at rest: the sick node may be why it isn't.
    if repair.sequences or scene.is_moving:
        return repair
    world, now = scene.world, scene.now
    drift = _one_of(outdated(world, now), DisruptionReason.DRIFT, scene)
    found = drift if drift.sequences else _search(scene).waking(drift.wake_at)
    return found.waking(min(repair.wake_at, next_expiry(world, now)))


def _one_of(
    found: Mapping[str, str], reason: DisruptionReason, scene: ReplacementScene
) -> Decision[ReplacementLedger]:
    """Asks about the first node that has to go and may go now, if there is one."""
    if not found:
        return Decision(section=scene.ledger)
    turn = in_turn(found, scene.most(reason), scene.look, reason=reason)
    wakes = [turn.wake_at]
    for node in turn.nodes:
        pods, passes_at = _moved_for(reason, node, scene)
        wakes.append(passes_at)
        if pods is not None:
            asked = proof_asked({node.name: pods}, scene, reason=reason, why=found[node.name])
            return asked.waking(min(wakes))
    return Decision(section=scene.ledger, wake_at=min(wakes))


def _moved_for(
    reason: DisruptionReason, node: Node, scene: ReplacementScene
) -> tuple[tuple[Pod, ...] | None, float]:
    """The pods that would move, or None if one may not; and when that may end by itself."""
    kept = scene.world.cluster.occupancy(node.name).keepers
    if reason is DisruptionReason.UNHEALTHY:
        return kept, NEVER
    if not is_in_use(node, scene.world):
        return None, NEVER
    pool = scene.world.pools[pool_of_node(node)]
    if pool.spec.disruption.termination_grace_period is None:
        return movable(node, scene.look)
    # What may not be moved is ended when the time of the drain is up.
    return (None if any(pod.is_terminating for pod in kept) else kept), NEVER


def _search(scene: ReplacementScene) -> Decision[ReplacementLedger]:
    """Asks which nodes could go, if anything has changed since the last search."""
    world, now, ledger = scene.world, scene.now, scene.ledger
    most = scene.most(DisruptionReason.CONSOLIDATION)
    nodes = eligible(scene.look, most)
    lasts, lasts_longer_at = horizon(ledger.regret, world, now)
    # The horizon is part of it: what didn't pay for a minute may pay for an hour.
    seen = (lasts, *sight(nodes.quiet, most, world))
    wake_at = earliest((nodes.wake_at, ledger.opens_at, lasts_longer_at, scene.budgets_change_at))
    is_same = seen == ledger.seen and now.monotonic < ledger.opens_at
    searched_in = ledger.searched_in if is_same else frozenset()
    currencies = {currency_of_node(node.name, world) for node in nodes.quiet} - searched_in
    if not currencies:
        return Decision(section=ledger, wake_at=wake_at)
    due = _after(ledger.searched_at, world.timing.between_searches)
    if due > now.monotonic:
        return Decision(section=ledger, wake_at=min(wake_at, due))
    found, opens_at = candidates(nodes, scene.look)
    # Prices in two currencies can't be compared, so each gets a search of its own, one after
    # another.
    currency = min(currencies)
    ledger = replace(
        ledger,
        seen=seen,
        searched_in=searched_in | {currency},
        searched_at=now.monotonic,
        opens_at=opens_at,
    )
    search = ReplacementSearch(
        found=found, world=world, now=now, most=most, horizon=lasts, currency=currency
    )
    answer = search_asked(search, ledger) if search.here else Decision(section=ledger)
    return answer.waking(wake_at)


def _after(last: float | None, rest: float) -> float:
    """When it may be done again; at once if it was never done."""
    return -NEVER if last is None else last + rest
