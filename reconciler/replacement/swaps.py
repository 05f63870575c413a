"""Swaps as objects record them: which machines replace which nodes, and how far the swap is.

Each machine that is bought for a swap has the same annotation, on the request and then on the node,
so the swap is found again after a crash at any point. It lasts until all replaced nodes are gone,
or until it is given up; then its machines are ordinary ones.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from growth.api.disruption import DisruptionReason
from growth.api.noderequest import COMING, RequestPhase
from growth.keeping.wanting import kept_by_hand
from reconciler.facts.requested import all_requests
from reconciler.facts.serving import serves_now
from reconciler.facts.swap_annotation import annotation, on_nodes, read_swap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reconciler.core.world import World


class SwapStage(enum.Enum):
    """How far a swap is."""

    LACKING = "a machine is missing"
    COMING = "machines are on their way"
    READY = "all machines serve"
    GOING = "old nodes go"


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """Machines that take the place of nodes."""

    text: str
    """The text of the annotation, which identifies the swap."""
    nodes: tuple[str, ...]
    of: int
    """How many machines belong to it."""
    reason: DisruptionReason
    machines: tuple[str, ...]
    """The machines that exist or are on their way."""

    def old(self, world: World) -> tuple[str, ...]:
        """The replaced nodes that still exist."""
        return tuple(name for name in self.nodes if name in world.cluster.nodes)

    def goers(self, world: World) -> tuple[str, ...]:
        """The replaced nodes that may still go: a person may keep one meanwhile."""
        nodes = world.cluster.nodes
        return tuple(name for name in self.old(world) if kept_by_hand(nodes[name]) is None)

    def stage(self, world: World) -> SwapStage:
        """How far it is."""
        if any(name in world.removals for name in self.old(world)):
            return SwapStage.GOING
        if len(self.machines) < self.of:
            return SwapStage.LACKING
        nodes = [world.cluster.nodes.get(name) for name in self.machines]
        are_serving = all(node is not None and serves_now(node, world) for node in nodes)
        return SwapStage.READY if are_serving else SwapStage.COMING


def swaps(world: World) -> tuple[Swap, ...]:
    """All swaps that are under way, in a stable order."""
    machines: defaultdict[str, list[str]] = defaultdict(list)
    for name, text in swap_texts(world):
        machines[text].append(name)
    # Such a swap has to be found, or it would never be given up.
    for text in _unmet(world):
        machines[text] += ()
    return tuple(
        swap
        for text, names in sorted(machines.items())
        if text not in world.ledger.replacement.given_up
        and (swap := _swap(text, names)) is not None
        and swap.old(world)
    )


def _swap(text: str, names: Iterable[str]) -> Swap | None:
    words = read_swap(text)
    if words is None:
        return None
    return Swap(
        text=text,
        nodes=words.nodes,
        of=words.of,
        reason=words.reason,
        machines=tuple(sorted(names)),
    )


def _unmet(world: World) -> Iterator[str]:
    """Swaps with an Unmet request, which may be the only object of the swap."""
    for request in world.requests.values():
        text = annotation(request)
        if text is not None and request.status.phase is RequestPhase.UNMET:
            yield text


def swap_texts(world: World) -> Iterator[tuple[str, str]]:
    """The annotation of each machine: from the request while it comes, then from its node."""
    coming = set()
    for name, request in all_requests(world).items():
        if request.status.phase in COMING:
            coming.add(name)
            text = annotation(request)
            if text is not None:
                yield name, text
    for name, text in on_nodes(world.cluster).items():
        # The request and its node bear the same text for a while, and would count as two machines.
        if name not in coming:
            yield name, text
