"""Shrinks a failing story to a small one that still fails.

It first tries fewer minutes, because all later tries are then faster; then fewer kinds of faults,
one by one; then fewer workloads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reconciler.simulation.story import Story

SHORTEST = 1.0


def shrunk(story: Story, fails: Callable[[Story], bool]) -> Story:
    """The smallest failing story that this search finds."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _smaller(story):
            if fails(candidate):
                story, is_smaller = candidate, True
                break
    return story


def _smaller(story: Story) -> Iterator[Story]:
    for share in (0.5, 0.8):
        minutes = float(int(story.minutes * share))
        if SHORTEST <= minutes < story.minutes:
            yield msgspec.structs.replace(story, minutes=minutes)
    for fault in story.faults:
        others = tuple(each for each in story.faults if each is not fault)
        yield msgspec.structs.replace(story, faults=others)
    for workloads in (story.workloads // 2, story.workloads - 1):
        if 1 <= workloads < story.workloads:
            yield msgspec.structs.replace(story, workloads=workloads)
