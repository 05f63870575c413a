"""What an agent reports of its cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from fleet.core.amounts import CapacityAmounts


@dataclass(frozen=True, kw_only=True)
class AgentCondition:
    """One condition of the agent. Only `Ready` decides anything."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ReportedNodes:
    """Compute nodes, as the agent counts them."""

    ceiling: int
    floor: int
    current: int
    workload_minimum: int
    """How many nodes the instances that run now need."""


@dataclass(frozen=True, kw_only=True)
class AgentReport:
    """One report."""

    conditions: tuple[AgentCondition, ...]
    total: CapacityAmounts
    """Carried for people; no rule reads it."""
    remaining: CapacityAmounts
    nodes: ReportedNodes
    node_delta: int
    """How many nodes to add or remove at once."""
    delta: CapacityAmounts
    """How much capacity `node_delta` nodes have."""
    written_at: datetime | None = None
    """When the agent wrote it, by its own clock. None: it doesn't say."""
    instances: int | None = None
    """How many instances run in the cluster. None: the agent doesn't count them."""
