"""Which limits keep pods from a machine, by the pools that the pods wait for.

Thousands of pods may wait for one limit, and nothing about that changes from one pass to the next.
So it is worked out from the tries when they have changed, and remembered as a few words a pool.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from growth.demand.pools import pools_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.buying.limits import SetLimit
    from reconciler.core.world import World
    from reconciler.facts.condition_words import Words
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.planning.tries import Try

IN_TOTAL = "is reached: raise it in the reconciler's settings, or wait until a node is removed"


def after_limits(
    before: PlanningLedger, ledger: PlanningLedger, pods: Mapping[str, Pod], world: World
) -> PlanningLedger:
    """Remember which limits bind; pools report a change at the end of this pass."""
    if ledger.tries is before.tries:
        return ledger
    return replace(ledger, binding=binding_limits(ledger.tries, pods, world.pools))


def binding_limits(
    tries: Mapping[str, Try], pods: Mapping[str, Pod], pools: Collection[str]
) -> Mapping[str, Words]:
    """For each pool with a binding limit, the limit and what to do; the first of several."""
    found: defaultdict[str, set[Words]] = defaultdict(set)
    for pod, limit, reason in _waiting(tries, pods):
        # A limit in total is that of each pool that the pod could use.
        names = (limit.pool,) if limit.pool else pools_of(pod, pools)
        # For a pool's own limit, the pod's reason already says how to fix it.
        message = reason if limit.pool else f"{limit.what} {IN_TOTAL}"
        for name in names:
            found[name].add((limit.kind.value, message))
    return {name: min(words) for name, words in found.items()}


def _waiting(
    tries: Mapping[str, Try], pods: Mapping[str, Pod]
) -> Iterator[tuple[Pod, SetLimit, str]]:
    """One pod of each shape that a limit leaves out, for each of its reasons."""
    seen: set[tuple[Shape, SetLimit, str]] = set()
    for uid, one in tries.items():
        pod = pods.get(uid)
        if pod is not None and one.limit is not None:
            key = pod.shape, one.limit, one.reason
            if key not in seen:
                seen.add(key)
                yield pod, one.limit, one.reason
