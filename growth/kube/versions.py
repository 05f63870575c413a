"""Compares resource versions.

Since Kubernetes 1.35, they are documented as numbers that can be compared within one kind; earlier
API servers behave the same. Versions that aren't numbers can't be compared, and each function here
then returns the safe answer.
"""

from __future__ import annotations


def number(version: str) -> int | None:
    """The version as a number; None if it isn't one."""
    return int(version) if version.isascii() and version.isdigit() else None


def is_before(version: str, other: str) -> bool:
    """Whether `version` is known to be older than `other`."""
    left, right = number(version), number(other)
    return left is not None and right is not None and left < right


def reaches(version: str, other: str) -> bool:
    """Whether `version` is known to be at least as new as `other`."""
    left, right = number(version), number(other)
    if left is None or right is None:
        return version == other and version != ""
    return left >= right
