"""Purchases of which only the name can be read: how many there are limits what may be bought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reconciler.core.world import World

UNKNOWN: Final = "unknown"
"""Server type and location of a request whose spec can't be read."""


def has_unknown_purchase(pool: str, world: World) -> bool:
    """Whether a machine of the pool was asked for, and it isn't known which, nor for which pods."""
    return any(
        request.spec.pool == pool and request.spec.target_offering == UNKNOWN
        for subject in world.aside
        if (request := world.requests.get(subject.name)) is not None
    )
