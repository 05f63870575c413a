"""Formats times as Kubernetes' MicroTime."""

from __future__ import annotations

from datetime import UTC, datetime


def micro_time(time: datetime) -> str:
    """The time in UTC with six decimals, as the API server returns it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
