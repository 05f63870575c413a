"""The warnings of admission: one line each, which kubectl prints, with the fix.

The API server cuts warnings after 256 characters, so the important names come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from webhooks.pools import AdmissionPools

LONGEST: Final = 256
_ROOM_FOR_NAMES: Final = 100
_LONGEST_NAME: Final = 63
_MOST_NAMES: Final = 5


def missing(names: Sequence[str], *, existing: AdmissionPools) -> Iterator[str]:
    """Warnings for a pod that selects pools that don't exist."""
    known = sorted({*existing.by_name, *existing.unreadable})
    there = f"available: {_listed(known)}" if known else "there is none yet"
    for name in names[:_MOST_NAMES]:
        yield f'growth: NodePool "{_cut(name)}" doesn\'t exist, so it provides no node; {there}'
    if len(names) > _MOST_NAMES:
        yield f"growth: {len(names) - _MOST_NAMES} more NodePools of the pod don't exist"


def too_large(*, limit: int) -> str:
    """A warning for a pod with too many conditions."""
    return (
        f"growth: this pod has more than {limit} tolerations and node affinity conditions, so it"
        " isn't changed; add tolerations for its pool's taints yourself"
    )


def unreadable(name: str) -> str:
    """A warning for a pod whose pool can't be read."""
    return (
        f"growth: NodePool \"{_cut(name)}\" can't be read by this version, so the pod isn't "
        f"changed; see kubectl describe nodepool {_cut(name)}"
    )


def unreadable_pod(problem: str) -> str:
    """A warning for a pod that can't be read."""
    return f"growth: this pod can't be read, so it isn't changed: {problem}"[:LONGEST]


def failed_review(kind: str) -> str:
    """A warning after an error of our own."""
    return f"growth: this pod isn't changed because of an error in growth ({kind}); see its log"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def _listed(names: list[str]) -> str:
    """As many names as fit, and the number of the others."""
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + 2 * len(shown) + len(name) > _ROOM_FOR_NAMES:
            break
        shown.append(name)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
