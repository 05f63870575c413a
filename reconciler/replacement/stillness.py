"""Since when the same pods are on each node.

A node that changed a moment ago will probably change again soon, so it isn't considered until its
pods have been the same for a while. Each node has its own quiet time, because a large cluster as a
whole is never quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.replacement.ledger import Still

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.instant import Instant
    from growth.scheduling.occupancy import Occupancy
    from reconciler.core.world import World


def stillness(before: Mapping[str, Still], world: World, now: Instant) -> Mapping[str, Still]:
    """How long each node has been left alone; the same mapping if nothing has changed."""
    after = {
        name: _still(before.get(name), world.cluster.occupancy(name), now)
        for name in world.cluster.nodes
    }
    is_same = len(after) == len(before) and all(each is before.get(n) for n, each in after.items())
    return before if is_same else after


def _still(before: Still | None, occupancy: Occupancy, now: Instant) -> Still:
    # An occupancy is replaced when it changes, and shared between snapshots as long as it doesn't.
    if before is not None and before.occupancy is occupancy:
        return before
    same = before is not None and _uids(before.occupancy) == _uids(occupancy)
    since = before.since if before is not None and same else now.monotonic
    return Still(occupancy=occupancy, since=since)


def _uids(occupancy: Occupancy) -> frozenset[str]:
    return frozenset(pod.metadata.uid for pod in occupancy.keepers)
