"""What a condition of a pool says, apart from whether it holds."""

from __future__ import annotations

Words = tuple[str, str]
"""Reason and message."""
