"""The clock on the wall: what is written into objects for people, and what certificates go by."""

from __future__ import annotations

from datetime import UTC, datetime


def wall_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)
