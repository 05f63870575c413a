"""What this growth works with."""

from __future__ import annotations

OBJECT_VERSION = "growth.dev/v1alpha1"

SUPPORTED_KUBERNETES = ((1, 31), (1, 36))
"""The oldest and the newest minor version that is tested."""


def spoken_range(versions: tuple[tuple[int, int], tuple[int, int]]) -> str:
    """The range as people say it: `1.31 to 1.36`."""
    oldest, newest = versions
    return f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
