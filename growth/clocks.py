"""The clock on the wall, for what is written into objects and for what is dated by others."""

from __future__ import annotations

from datetime import UTC, datetime


def wall_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is where it is asked
