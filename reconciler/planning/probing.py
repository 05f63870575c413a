"""Which pod gets the machine that tests whether a refused offer is available again.

Each refusal whose time is over needs its own test, and only a pod that can use the offer will do:
one of its pools must sell the offer, and the pod must fit. The most frequent kind of pod in
back-off goes first. If no machine can be planned for a kind (because of a limit or a selector), the
next kind is tried, so that hopeless pods don't block others. Since there may be more combinations
of kinds and refusals than a pause has time for, each pause tries a fixed number, beginning with
those that were tried longest ago or never.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.demand.pools import pools_of
from reconciler.buying.market import market, sold
from reconciler.buying.refusals import Probe, matching, to_be_probed
from reconciler.core.decision import NEVER
from reconciler.facts.requested import all_requests
from reconciler.planning.tries import PodTries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World


class ProbePlan(NamedTuple):
    """A plan for one pod that may buy only the offer to be tested."""

    probe: Probe
    pod: Pod
    sold: Market


def next_trial(waiting: Mapping[str, Pod], world: World, now: Instant) -> ProbePlan | None:
    """The first trial that is due and could end in a machine; `waiting` are pods without a place.

    There is none as long as no refusal is in doubt, which is nearly always.
    """
    known = world.ledger.planning.refusals
    refusals = to_be_probed(known, world, all_requests(world).values())
    kinds = _resting(waiting, world, now) if refusals and known.may_probe(now) else ()
    if not kinds:
        return None
    offered = sold(world)
    items = {each: matching(offered, each, world) for each in refusals}
    trials = (
        (known.probe_at.get(Probe(refusal, pod.shape), -NEVER), rank, refusal, pod)
        for refusal in refusals
        for rank, pod in enumerate(_able(kinds, items[refusal], world))
    )
    # Only the first two are compared: refusals and pods have no order.
    first = min(trials, key=lambda each: each[:2], default=None)
    if first is None or first[0] > now.monotonic:
        return None
    _, _, refusal, pod = first
    # What limits leave is counted for a trial alone, and not while all of them rest.
    only = msgspec.structs.replace(market(world, now), items=items[refusal])
    return ProbePlan(Probe(refusal, pod.shape), pod, only)


def _resting(waiting: Mapping[str, Pod], world: World, now: Instant) -> tuple[Pod, ...]:
    """One pod of each kind that is in back-off, the most frequent kind first."""
    tries = world.ledger.planning.tries
    resting = [
        pod
        for uid, pod in waiting.items()
        if uid in tries and tries[uid].standing(now.monotonic) is PodTries.BACK_OFF
    ]
    # The first pod of a kind is named in each try, as long as it is there.
    first = {pod.shape: pod for pod in reversed(resting)}
    counts = Counter(pod.shape for pod in resting)
    return tuple(first[shape] for shape, _ in counts.most_common())


def _able(kinds: Iterable[Pod], items: Iterable[Purchasable], world: World) -> Iterator[Pod]:
    """The pods that could use one of these offers, as far as is known without a plan."""
    offered = tuple(items)
    for pod in kinds:
        pools = pools_of(pod, world.pools)
        if any(item.pool.name in pools and item.room.covers(pod.requests) for item in offered):
            yield pod
