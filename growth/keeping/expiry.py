"""When a node is too old for its pool (`disruption.expireAfter`).

Nodes that were bought together must not be replaced together: their pods would all move at once,
and the provider would get as many orders at once. So each node may become older than `expireAfter`
by a part of a tenth of it, or of an hour if that is more. The part follows from the node's name
alone, so all processes agree about it, and it is the same after a restart.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from growth.foreign_text import time_or_none

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node

PARTS: Final = 10
LEAST_SPREAD: Final = timedelta(hours=1)
"""For short ages; a node still becomes at most twice as old as it should."""


def expires_at(node: Node, pool: NodePool) -> datetime | None:
    """When the node is to be replaced because of its age; None if it never is."""
    age = pool.spec.disruption.expire_after
    created = time_or_none(node.metadata.creation_timestamp)
    if age is None or created is None:
        return None
    return created + age.timedelta + share_of_spread(node.name) * spread(age.timedelta)


def spread(age: timedelta) -> timedelta:
    """The time over which nodes that were bought together are replaced."""
    return min(max(age / PARTS, LEAST_SPREAD), age)


# Each pass asks about nodes of which some have changed.
@lru_cache(maxsize=16_384)
def share_of_spread(name: str) -> float:
    """The part of the spread that a node has, from 0 to 1."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
