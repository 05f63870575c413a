"""Labels by which another program would take our servers or nodes for its own, and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CLAIMS: Final = {
    "hcloud/": "the Cluster Autoscaler",
    "cluster-autoscaler.kubernetes.io/": "the Cluster Autoscaler",
    "karpenter.": "Karpenter",
}
"""Programs by how their labels begin."""


def label_mistakes(labels: Iterable[str], *, where: str) -> tuple[str, ...]:
    """What is wrong with labels, each as what, where and how to mend it."""
    return tuple(
        f"{where}: by {label} {program} takes what growth buys for its own: take it out"
        for label in sorted(labels)
        for beginning, program in CLAIMS.items()
        if label.startswith(beginning)
    )
