"""Kubernetes' MicroTime as text."""

from __future__ import annotations

from datetime import UTC, datetime


def micro_time(time: datetime) -> str:
    """Always UTC and always six digits, as the API server gives it back."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
