"""The reason and message of a pool's condition."""

from __future__ import annotations

Words = tuple[str, str]
"""Reason and message."""
