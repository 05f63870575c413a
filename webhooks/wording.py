"""What is told to whoever creates a pod: one line that kubectl prints, with the way to mend it.

The API server cuts what is longer than 256 characters, so the names that matter come first.
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
    """The pod names pools that aren't there."""
    known = sorted({*existing.by_name, *existing.unreadable})
    there = f"there is {_listed(known)}" if known else "there is none yet"
    for name in names[:_MOST_NAMES]:
        yield f'growth: no NodePool is called "{_cut(name)}", so no node comes from it; {there}'
    if len(names) > _MOST_NAMES:
        yield f"growth: {len(names) - _MOST_NAMES} more NodePools that the pod names are missing"


def too_large(*, limit: int) -> str:
    """The pod has too many conditions."""
    return (
        f"growth: this pod has more than {limit} tolerations and conditions about nodes; it is left"
        " as it is, so name its pool's taints in its tolerations"
    )


def unreadable(name: str) -> str:
    """A pool that the pod means can't be read."""
    return (
        f'growth: NodePool "{_cut(name)}" is written in a way that this version can\'t read; the '
        f"pod is left as it is. See: kubectl describe nodepool {_cut(name)}"
    )


def unreadable_pod(problem: str) -> str:
    """The pod itself can't be read."""
    return f"growth: this pod can't be read and is left as it is: {problem}"[:LONGEST]


def failed_review(kind: str) -> str:
    """We have made a mistake."""
    return f"growth: this pod is left as it is, as growth failed at it ({kind}); its log says where"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def _listed(names: list[str]) -> str:
    """As many as there is room for, and how many more there are."""
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + 2 * len(shown) + len(name) > _ROOM_FOR_NAMES:
            break
        shown.append(name)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
