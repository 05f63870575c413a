"""Names of requests, and thus of machines and nodes, which have the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID


def request_name(pool: str, new_uuid: Callable[[], UUID]) -> str:
    """`{pool}-{uuid}`.

    The generator is an argument, so that the same seed gives the same history.
    """
    return f"{pool}-{new_uuid()}"
