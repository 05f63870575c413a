"""Names of requests, and so of machines and nodes: they share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID


def request_name(pool: str, new_uuid: Callable[[], UUID]) -> str:
    """`{pool}-{uuid}`. The generator is handed in, so that the same seed gives the same history."""
    return f"{pool}-{new_uuid()}"
