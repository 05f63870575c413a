"""What happens next with the swaps that are under way.

    machines come      nothing, until all of them serve
    all serve          it is asked once more whether the old nodes' pods find a place: yes -> the
                       old nodes' removals are opened; no -> the swap is given up
    old nodes go       nothing; the drain is removal's. One whose removal ends while it is still
                       there was rolled back: it isn't asked about again for a while
    a machine lacks    the swap is given up, at once where a request is Unmet, else after a wait

What came of a swap that is given up is ordinary from then on: a machine on its way is cancelled, a
node that serves loses the annotation and goes when it is idle. Its old nodes rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.disruption import DisruptionReason
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.actions import Delete, Sequence, machine, version_of
from reconciler.decision import NEVER
from reconciler.planning.nominations import COMING
from reconciler.replacement.swaps import Stage
from reconciler.replacement.writing import forgotten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.instant import Instant
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.swaps import Swap
    from reconciler.world import World

LACKS: Final = 60.0
"""Seconds for which a machine of a swap may be missing: its request may be on its way to us."""
RESTS: Final = 600.0
"""Seconds for which a node isn't chosen again after a swap that came to nothing."""


def followed(
    ledger: ReplacementLedger, found: Iterable[Swap], world: World, now: Instant
) -> ReplacementLedger:
    """The memory of swaps, brought up to this moment."""
    under_way = list(found)
    lacking = {
        swap.text: ledger.lacking.get(swap.text, now.monotonic)
        for swap in under_way
        if swap.stage(world) is Stage.LACKING
    }
    lost = {
        swap.text
        for swap in under_way
        if swap.text in lacking and _is_lost(swap, world, lacking, now)
    }
    ledger = msgspec.structs.replace(ledger, lacking=lacking)
    for swap in under_way:
        if swap.text in lost:
            ledger = given_up(ledger, swap.text, swap.nodes, now)
    return _with_going(ledger, under_way, world, now)


def given_up(
    ledger: ReplacementLedger, text: str, nodes: Iterable[str], now: Instant
) -> ReplacementLedger:
    """The memory of a swap that came to nothing."""
    return resting(msgspec.structs.replace(ledger, given_up=ledger.given_up | {text}), nodes, now)


def resting(ledger: ReplacementLedger, nodes: Iterable[str], now: Instant) -> ReplacementLedger:
    """These nodes are left alone for a while."""
    until = dict.fromkeys(nodes, now.monotonic + RESTS)
    return msgspec.structs.replace(ledger, resting={**ledger.resting, **until})


def left_behind(ledger: ReplacementLedger, world: World) -> Iterator[Sequence]:
    """What is done with the machines of swaps that were given up."""
    for name, request in sorted(world.requests.items()):
        text = request.metadata.annotations.get(REPLACES_ANNOTATION)
        is_coming = request.status.phase in COMING and request.metadata.deletion_timestamp is None
        if text in ledger.given_up and is_coming and world.is_free(machine(name)):
            delete = Delete(kind="NodeRequest", version=version_of(request))
            yield Sequence(
                subject=machine(name), steps=(delete,), why="what it was to replace stays"
            )
    for name, node in sorted(world.cluster.nodes.items()):
        text = node.metadata.annotations.get(REPLACES_ANNOTATION)
        request_ = world.requests.get(name)
        is_coming = request_ is not None and request_.status.phase in COMING
        if text in ledger.given_up and not is_coming and world.is_free(machine(name)):
            yield Sequence(
                subject=machine(name),
                steps=(forgotten(node),),
                why="what it was to replace stays",
            )


def next_end(ledger: ReplacementLedger, now: Instant) -> float:
    """When a wait ends if nothing changes before."""
    ends = (since + LACKS for since in ledger.lacking.values())
    later = (end for end in (*ends, *ledger.resting.values()) if end > now.monotonic)
    return min(later, default=NEVER)


def _is_lost(swap: Swap, world: World, lacking: Mapping[str, float], now: Instant) -> bool:
    is_unmet = any(
        request.status.phase is RequestPhase.UNMET
        and request.metadata.annotations.get(REPLACES_ANNOTATION) == swap.text
        for request in world.requests.values()
    )
    return is_unmet or lacking[swap.text] + LACKS <= now.monotonic


def _under_way(world: World) -> Iterator[tuple[str, DisruptionReason]]:
    reasons = {each.value: each for each in DisruptionReason}
    for name, removal in world.removals.items():
        if name in world.cluster.nodes and removal.spec.reason.value in reasons:
            yield name, reasons[removal.spec.reason.value]


def _with_going(
    ledger: ReplacementLedger, under_way: Iterable[Swap], world: World, now: Instant
) -> ReplacementLedger:
    """Old nodes whose removal ended while they are there were rolled back: they rest."""
    going, rolled_back = dict(_under_way(world)), set()
    for name, reason in ledger.going.items():
        if name not in world.cluster.nodes:
            continue
        if name in world.removals or not world.is_free(machine(name)):
            going[name] = reason
        else:
            rolled_back.add(name)
    ledger = msgspec.structs.replace(ledger, going=going)
    if not rolled_back:
        return ledger
    for swap in under_way:
        if rolled_back & set(swap.nodes) and not going.keys() & set(swap.nodes):
            ledger = given_up(ledger, swap.text, swap.old(world), now)
    return resting(ledger, rolled_back, now)
