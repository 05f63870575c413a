"""What happens next with the swaps that are under way.

    machines come      nothing happens until all of them serve
    all serve          the solver checks again whether the old nodes' pods find a place: if so, the
                       removals of the old nodes are opened; if not, the swap is given up
    old nodes go       removal drains them. If a removal ends while its node exists, it was rolled
                       back, and the node isn't chosen again for a while
    machine missing    the swap is given up, at once if a request is Unmet, otherwise after a wait
    a person steps in  an old node that a person has cordoned or protected meanwhile stays, and the
                       others go; if none is left, the swap is given up

After a swap is given up, a machine on its way is cancelled, and a node that serves loses the
annotation and goes when it is idle. The old nodes aren't chosen again for a while.
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
"""Seconds for which a machine of a swap may be missing: the cache may not show its request yet."""
RESTS: Final = 600.0
"""Seconds for which a node isn't chosen again after a failed swap."""
RESTS_SHORTLY: Final = 60.0
"""The same after a plan that was too tight; doubled each time."""
RESTS_LONGEST: Final = 3600.0


def followed(
    ledger: ReplacementLedger, found: Iterable[Swap], world: World, now: Instant
) -> ReplacementLedger:
    """The ledger with the current state of all swaps."""
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
    """The ledger after a swap was given up."""
    return resting(replace(ledger, given_up=ledger.given_up | {text}), nodes, now)


def resting(
    ledger: ReplacementLedger, nodes: Iterable[str], now: Instant, *, seconds: float = RESTS
) -> ReplacementLedger:
    """These nodes are left alone for a while."""
    until = dict.fromkeys(nodes, now.monotonic + seconds)
    # The last search's answer included them, so it doesn't hold for the time when they are back.
    return replace(ledger, resting={**ledger.resting, **until}, seen=())


def rest_after(times: int) -> float:
    """How long a node rests after this many plans in a row left its pods over."""
    return float(min(RESTS_SHORTLY * 2 ** min(times - 1, 10), RESTS_LONGEST))


def machines_left_behind(ledger: ReplacementLedger, world: World) -> Iterator[Sequence]:
    """Cancels or releases the machines of swaps that were given up."""
    if not ledger.given_up:
        return
    for name, request in sorted(world.requests.items()):
        text = annotation(request)
        is_wanted = is_coming(name, world) and request.metadata.deletion_timestamp is None
        if text in ledger.given_up and is_wanted and world.is_free(machine(name)):
            delete = Delete(kind="NodeRequest", version=version_of(request))
            yield Sequence(
                subject=machine(name), steps=(delete,), why="the nodes it would replace stay"
            )
    for name, text in sorted(on_nodes(world.cluster).items()):
        if text in ledger.given_up and not is_coming(name, world) and world.is_free(machine(name)):
            yield Sequence(
                subject=machine(name),
                steps=(forgotten(world.cluster.nodes[name]),),
                why="the nodes it would replace stay",
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
    """The annotations of swaps that a request or node still has."""
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
    """An old node whose removal ended while it exists was rolled back: it rests."""
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
        # As long as another old node of the swap is going, its machines are needed.
        if rolled_back & set(swap.nodes) and not going.keys() & set(swap.nodes):
            ledger = swap_given_up(ledger, swap.text, swap.old(world), now)
    return resting(ledger, rolled_back, now)
