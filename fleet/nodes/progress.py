"""Whether compute nodes are still coming or going, so that no further step may be taken.

The conditions of Cluster API's objects don't tell: they look settled for a second after a write,
and a step up makes a cluster unavailable that serves well. Counts do: how many nodes are wanted,
and how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.errors import RetryLater

if TYPE_CHECKING:
    from fleet.core.provider import NodeCounts


class NodesUnknown(RetryLater):
    """How many nodes are wanted or there isn't known now, so nothing can be scaled."""


def is_scaling(counts: NodeCounts) -> bool:
    """Whether a step is still under way."""
    if counts.desired is None or counts.existing is None:
        raise NodesUnknown("the provider doesn't say how many compute nodes there are")
    return counts.desired != counts.existing or counts.leaving > 0 or not counts.is_settled
