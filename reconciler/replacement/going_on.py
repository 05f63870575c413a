"""What happens next with the swaps that are under way.

    machines come      nothing, until all of them serve
    all serve          it is asked once more whether the old nodes' pods find a place: yes -> the
                       old nodes' removals are opened; no -> the swap is given up
    old nodes go       nothing; the drain is removal's. One whose removal ends while it is still
                       there was rolled back: it isn't asked about again for a while
    a machine lacks    the swap is given up, at once where a request is Unmet, else after a wait
    a person's hand    an old node that a person has cordoned or protected since stays, the others
                       go without it; if that is all of them, the swap is given up

What came of a swap that is given up is ordinary from then on: a machine on its way is cancelled, a
node that serves loses the annotation and goes when it is idle. Its old nodes rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from growth.api.noderequest import RequestPhase
from reconciler.core.actions import Delete, Sequence, machine, version_of
from reconciler.core.decision import NEVER
from reconciler.facts.requested import all_requests, is_coming
from reconciler.facts.swap_annotation import annotation, on_nodes
from reconciler.replacement.swaps import SwapStage
from reconciler.replacement.writing import forgotten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.disruption import DisruptionReason
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.swaps import Swap

LACKS: Final = 60.0
"""Seconds for which a machine of a swap may be missing: its request may be on its way to us."""
RESTS: Final = 600.0
"""Seconds for which a node isn't chosen again after a swap that came to nothing."""
RESTS_SHORTLY: Final = 60.0
"""The same after a plan that left no room for mistakes; twice as long each time."""
RESTS_LONGEST: Final = 3600.0


def followed(
    ledger: ReplacementLedger, found: Iterable[Swap], world: World, now: Instant
) -> ReplacementLedger:
    """The memory of swaps, brought up to this moment."""
    under_way = {swap.text: swap for swap in found}
    lacking = {
        text: ledger.lacking.get(text, now.monotonic)
        for text, swap in under_way.items()
        if swap.stage(world) is SwapStage.LACKING
    }
    gone = {text: nodes for text, nodes in ledger.swaps.items() if text not in under_way}
    ledger = replace(
        ledger,
        lacking=lacking,
        given_up=_still_written(ledger.given_up, world),
        swaps={text: swap.nodes for text, swap in under_way.items()},
    )
    for nodes in gone.values():
        # All of its machines have vanished; or its nodes have, and then none of them can rest.
        ledger = resting(ledger, nodes, now)
    for text, since in lacking.items():
        if _is_lost(text, world, since, now):
            ledger = swap_given_up(ledger, text, under_way[text].nodes, now)
    for swap in under_way.values():
        if swap.stage(world) is not SwapStage.GOING and not swap.goers(world):
            ledger = swap_given_up(ledger, swap.text, swap.nodes, now)
    return _with_going(ledger, under_way.values(), world, now)


def swap_given_up(
    ledger: ReplacementLedger, text: str, nodes: Iterable[str], now: Instant
) -> ReplacementLedger:
    """The memory of a swap that came to nothing."""
    return resting(replace(ledger, given_up=ledger.given_up | {text}), nodes, now)


def resting(
    ledger: ReplacementLedger, nodes: Iterable[str], now: Instant, *, seconds: float = RESTS
) -> ReplacementLedger:
    """These nodes are left alone for a while."""
    until = dict.fromkeys(nodes, now.monotonic + seconds)
    # What was answered with them is no answer for when they are back.
    return replace(ledger, resting={**ledger.resting, **until}, seen=())


def rest_after(times: int) -> float:
    """How long a node rests whose pods would have been left over so many times in a row."""
    return float(min(RESTS_SHORTLY * 2 ** min(times - 1, 10), RESTS_LONGEST))


def machines_left_behind(ledger: ReplacementLedger, world: World) -> Iterator[Sequence]:
    """What is done with the machines of swaps that were given up."""
    if not ledger.given_up:
        return
    for name, request in sorted(world.requests.items()):
        text = annotation(request)
        is_wanted = is_coming(name, world) and request.metadata.deletion_timestamp is None
        if text in ledger.given_up and is_wanted and world.is_free(machine(name)):
            delete = Delete(kind="NodeRequest", version=version_of(request))
            yield Sequence(
                subject=machine(name), steps=(delete,), why="what it was to replace stays"
            )
    for name, text in sorted(on_nodes(world.cluster).items()):
        if text in ledger.given_up and not is_coming(name, world) and world.is_free(machine(name)):
            yield Sequence(
                subject=machine(name),
                steps=(forgotten(world.cluster.nodes[name]),),
                why="what it was to replace stays",
            )


def next_wait_end(ledger: ReplacementLedger, now: Instant) -> float:
    """When a wait ends if nothing changes before."""
    ends = (since + LACKS for since in ledger.lacking.values())
    later = (end for end in (*ends, *ledger.resting.values()) if end > now.monotonic)
    return min(later, default=NEVER)


def _is_lost(text: str, world: World, since: float, now: Instant) -> bool:
    is_unmet = any(
        request.status.phase is RequestPhase.UNMET and annotation(request) == text
        for request in world.requests.values()
    )
    return is_unmet or since + LACKS <= now.monotonic


def _still_written(texts: frozenset[str], world: World) -> frozenset[str]:
    """Those of the swaps' words that anything tells of."""
    if not texts:
        return texts
    requests = (annotation(each) for each in all_requests(world).values())
    return texts.intersection((*requests, *on_nodes(world.cluster).values()))


def _under_way(world: World) -> Iterator[tuple[str, DisruptionReason]]:
    for name, removal in world.removals.items():
        reason = removal.spec.reason.meaning.disruption
        if reason is not None and name in world.cluster.nodes:
            yield name, reason


def _with_going(
    ledger: ReplacementLedger, under_way: Iterable[Swap], world: World, now: Instant
) -> ReplacementLedger:
    """Old nodes whose removal ended while they are there were rolled back: they rest."""
    going = dict(_under_way(world))
    opening = {
        name: reason
        for name, reason in ledger.opening.items()
        if name not in going and not world.is_free(machine(name))
    }
    rolled_back = (ledger.going.keys() - going.keys()) & world.cluster.nodes.keys()
    ledger = replace(ledger, opening=opening, going=going)
    if not rolled_back:
        return ledger
    for swap in under_way:
        if rolled_back & set(swap.nodes) and not going.keys() & set(swap.nodes):
            ledger = swap_given_up(ledger, swap.text, swap.old(world), now)
    return resting(ledger, rolled_back, now)
