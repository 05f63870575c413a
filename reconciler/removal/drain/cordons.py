"""Removes growth's cordons from nodes whose removal no longer exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.actions import machine
from reconciler.core.step import Step
from reconciler.facts.cordons import bears_our_cordon, uncordoned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.core.world import World
    from reconciler.facts.sighted_clock import SightedClock


def marks_left_behind(world: World, clock: SightedClock) -> Iterator[tuple[str, Step]]:
    """Nodes whose removal disappeared before its end, because someone removed its finalizer."""
    # While growth is blind, a removal may exist that no cache shows.
    if not clock.runs:
        return
    for node in world.cluster.ordered_nodes:
        is_left_behind = bears_our_cordon(node) and node.name not in world.removals
        if is_left_behind and world.is_free(machine(node.name)):
            yield node.name, Step(actions=(uncordoned(node),), why="its removal no longer exists")
