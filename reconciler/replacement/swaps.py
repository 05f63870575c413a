"""What objects say of swaps: which machines take the place of which nodes, and how far that is.

A swap is written on each machine that is bought for it, on the request and then on the node, in the
very same words; so it is known again after a crash at any point. It lives as long as one of the
nodes that it replaces is there, unless it was given up: then what came of it is ordinary.
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
    """As it is written, which tells one swap from another."""
    nodes: tuple[str, ...]
    of: int
    """How many machines belong to it."""
    reason: DisruptionReason
    machines: tuple[str, ...]
    """Those that are there or on their way."""

    def old(self, world: World) -> tuple[str, ...]:
        """The replaced nodes that are there still."""
        return tuple(name for name in self.nodes if name in world.cluster.nodes)

    def goers(self, world: World) -> tuple[str, ...]:
        """Those of them that may go still: a person may have laid a hand on one since."""
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
    """Swaps of which a machine can't be had; maybe nothing else tells of them."""
    for request in world.requests.values():
        text = annotation(request)
        if text is not None and request.status.phase is RequestPhase.UNMET:
            yield text


def swap_texts(world: World) -> Iterator[tuple[str, str]]:
    """The words on each machine: the request's while it comes, its node's from then on."""
    coming = set()
    for name, request in all_requests(world).items():
        if request.status.phase in COMING:
            coming.add(name)
            text = annotation(request)
            if text is not None:
                yield name, text
    for name, text in on_nodes(world.cluster).items():
        if name not in coming:
            yield name, text
