"""What a provider of clusters shows of one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProviderProgress(StrEnum):
    """How far a provider is with a cluster that was asked for."""

    PENDING = "pending"
    INSTALLING = "installing"
    READY = "ready"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class NodeCounts:
    """Compute nodes as the provider counts them. None: it can't tell now."""

    desired: int | None
    existing: int | None
    leaving: int = 0
    """Machines that are being deleted."""
    is_settled: bool = True
    """Whether what is wanted has reached everything that carries it out."""


@dataclass(frozen=True, kw_only=True)
class ClusterSight:
    """One cluster at its provider. Without a sight, the provider has no such cluster."""

    progress: ProviderProgress
    counts: NodeCounts = NodeCounts(desired=None, existing=None)
    is_deleting: bool = False
    is_equipped: bool = False
    """Whether everything is installed that each cluster gets, such as its agent."""
