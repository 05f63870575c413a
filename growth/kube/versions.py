"""Resource versions: which of two is the older one.

From Kubernetes 1.35 on they may be compared as numbers within one kind; the API servers before it
count in the same way without promising it. What isn't a number can't be ordered, and every question
here then has the careful answer.
"""

from __future__ import annotations


def number(version: str) -> int | None:
    """The version as a number; None when it can't be ordered."""
    return int(version) if version.isascii() and version.isdigit() else None


def is_before(version: str, other: str) -> bool:
    """Whether the first is known to be older."""
    left, right = number(version), number(other)
    return left is not None and right is not None and left < right


def reaches(version: str, other: str) -> bool:
    """Whether the first is known to be as new as the other."""
    left, right = number(version), number(other)
    if left is None or right is None:
        return version == other and version != ""
    return left >= right
