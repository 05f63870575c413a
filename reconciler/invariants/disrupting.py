"""Checks of removals that disrupt: however they came about, a pool's budgets hold.

Only the arithmetic of budgets is shared with the rules. What is counted, and against what, is
decided here anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reconciler.core.actions import OpenRemoval
from reconciler.facts.fleet import nodes_of_pools
from reconciler.invariants.breach import Breach, Invariant
from reconciler.replacement.allowance import allowed_disruptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.disruption import DisruptionReason
    from growth.instant import Instant
    from reconciler.core.actions import Sequence, Subject
    from reconciler.core.world import World


def overdisrupted(
    sequences: Iterable[Sequence], world: World, now: Instant
) -> Iterator[tuple[Subject, Breach]]:
    """Every removal of a pool in which more would go than its budgets allow."""
    opened: defaultdict[str, list[tuple[Subject, DisruptionReason]]] = defaultdict(list)
    for sequence in sequences:
        for step in sequence.steps:
            if isinstance(step, OpenRemoval):
                reason = step.removal.spec.reason.meaning.disruption
                if reason is not None:
                    opened[step.removal.spec.pool].append((sequence.subject, reason))
    if opened:
        yield from _beyond(opened, world, now)


def _beyond(
    opened: dict[str, list[tuple[Subject, DisruptionReason]]], world: World, now: Instant
) -> Iterator[tuple[Subject, Breach]]:
    nodes = Counter(each.pool for each in nodes_of_pools(world).values())
    going = Counter(
        each.spec.pool
        for each in world.removals.values()
        if each.spec.reason.meaning.disruption is not None
    )
    for name, many in sorted(opened.items()):
        pool = world.pools.get(name)
        if pool is None:
            continue
        for subject, reason in many:
            allowed = allowed_disruptions(
                pool, reason, nodes=nodes[name], disrupted=going[name], now=now
            )
            if len(many) > allowed:
                text = (
                    f"{len(many)} nodes of pool {name} would go, {allowed} more may be "
                    f"disrupted for {reason}"
                )
                yield subject, Breach(invariant=Invariant.BUDGET_KEPT, text=text, pool=name)
