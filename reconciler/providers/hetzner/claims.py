"""Labels that would make another program treat our servers or nodes as its own and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CLAIMS: Final = {
    "hcloud/": "the Cluster Autoscaler",
    "cluster-autoscaler.kubernetes.io/": "the Cluster Autoscaler",
    "karpenter.": "Karpenter",
}
"""Programs, by the prefix of their labels."""


def label_mistakes(labels: Iterable[str], *, where: str) -> tuple[str, ...]:
    """The problems with these labels, each with what, where, and how to fix it."""
    return tuple(
        f"{where}: with label {label}, {program} treats growth's machines as its own: remove it"
        for label in sorted(labels)
        for beginning, program in CLAIMS.items()
        if label.startswith(beginning)
    )
