"""Checks that disruptions stay within budgets: those of pools, and those of pods.

Both are counted at the API server. People may change the budgets of a pool at any time, and a
process may know that late, so for a while the former ones still allow what they allowed.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from reconciler.simulation.cloud import pool_of_simulated_node
from reconciler.simulation.evictions import counts_as_healthy
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.kubelets import GRACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.disruption import BudgetWindow, DisruptionReason, NodeDisruptionBudget
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Evict
    from reconciler.effects.eviction import EvictionRefusal
    from reconciler.simulation.evictions import Evictions
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

    Budgets = tuple[NodeDisruptionBudget, ...]

KNOWN_WITHIN: Final = 300.0
"""Seconds within which a process knows of a change, whatever is late or lost."""
DISTANCES: Final = (-300.0, 0.0, 300.0)
"""Seconds by which the clock of a process may be wrong; windows are longer than that."""
OF_POOLS: Final = "pools stay within their budgets"
OF_PODS: Final = "evictions stay within budgets"
ENDED: Final = "a pod is ended only if its time is up"


class BudgetAuditor:
    """Counts disruptions again."""

    def __init__(
        self,
        around: Surroundings,
        evictions: Evictions,
        *,
        breach: Callable[[str, str], None],
    ) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        self._evictions = evictions
        self._breach = breach
        is_moved = SimulatedFault.CLOCK_JUMP in around.faults.kinds
        self._distances = DISTANCES if is_moved else (0.0,)
        self._former: dict[str, list[tuple[float, Budgets]]] = {}
        """Until when budgets of each pool applied that don't apply any more."""
        self._sizes: dict[str, list[tuple[float, int]]] = {}
        """Until when each pool had more nodes than now."""
        self._evict = server.evict
        server.evict = self._asked
        server.kind(NodePool.__name__).heard_by.append(self._pool_changed)
        server.kind("nodes").heard_by.append(self._node_changed)
        server.kind(NodeRemovalRequest.__name__).heard_by.append(self._removal_changed)

    def _pool_changed(self, event: StoredChange) -> None:
        old: NodePool | None = event.old
        new: NodePool | None = event.new
        if old is not None and (new is None or new.spec.disruption != old.spec.disruption):
            before = old.spec.disruption.budgets
            self._former.setdefault(event.key.name, []).append((self._timeline.now, before))

    def _node_changed(self, event: StoredChange) -> None:
        pool = pool_of_simulated_node(event.old) if event.old is not None else ""
        if pool and event.new is None:
            size = self._nodes_of(pool) + 1
            self._sizes.setdefault(pool, []).append((self._timeline.now, size))

    def _removal_changed(self, event: StoredChange) -> None:
        removal: NodeRemovalRequest | None = event.new
        if event.old is not None or removal is None:
            return
        reason = removal.spec.reason.meaning.disruption
        pool: NodePool | None = self._server.kind(NodePool.__name__).named(removal.spec.pool)
        if reason is None or pool is None:
            return
        going, most = self._going(pool.name), self._allowed(pool, reason)
        if going > most:
            self._breach(OF_POOLS, f"{going} nodes of {pool.name} go for {reason}, not {most}")

    def _going(self, pool: str) -> int:
        removals = self._server.kind(NodeRemovalRequest.__name__).objects.values()
        return sum(
            each.spec.pool == pool and each.spec.reason.meaning.disruption is not None
            for each in removals
        )

    def _allowed(self, pool: NodePool, reason: DisruptionReason) -> int:
        """The most that any budgets allowed of which a process may still think."""
        since = self._timeline.now - KNOWN_WITHIN
        former = (each for until, each in self._former.get(pool.name, ()) if until >= since)
        sizes = [size for until, size in self._sizes.get(pool.name, ()) if until >= since]
        nodes = max([self._nodes_of(pool.name), *sizes])
        return max(
            allowed(budgets, reason, nodes=nodes, wall=self._server.wall + timedelta(seconds=away))
            for budgets in (pool.spec.disruption.budgets, *former)
            for away in self._distances
        )

    def _nodes_of(self, pool: str) -> int:
        nodes = self._server.kind("nodes").objects.values()
        return sum(pool_of_simulated_node(node) == pool for node in nodes)

    def _asked(self, asked: Evict) -> EvictionRefusal | None:
        """Check that no budget lacks pods because of an eviction."""
        pod = self._server.kind("pods").named(asked.name, namespace=asked.namespace)
        is_counted = pod is not None and counts_as_healthy(pod) and self._evictions.is_up_to_date
        refused = self._evict(asked)
        if asked.ends_within is not None:
            self._check_time(asked, pod)
        elif is_counted and refused is None and (short := self._evictions.lacking(pod)):
            self._breach(OF_PODS, f"{asked.name} is evicted, and {short[0]} lacks pods")
        return refused

    def _check_time(self, asked: Evict, pod: Pod | None) -> None:
        """Check that a pod is deleted only where the time of its node's drain is up."""
        removal = None if pod is None else self._removal_of(pod.spec.node_name)
        if pod is None or removal is None:
            return
        pool: NodePool | None = self._server.kind(NodePool.__name__).named(removal.spec.pool)
        period = None if pool is None else pool.spec.disruption.termination_grace_period
        if period is None or removal.spec.reason.meaning.saves:
            self._breach(ENDED, f"{asked.name}, though its pool says nothing of it")
            return
        began = removal.metadata.creation_timestamp or self._server.wall
        grace = pod.spec.termination_grace_period_seconds
        left = period.seconds - (self._server.wall - began).total_seconds()
        wrong = max(map(abs, self._distances))
        if left - wrong > max(GRACE if grace is None else grace, 1) + 1:
            self._breach(ENDED, f"{asked.name} {left:.0f} s before the end of its drain")

    def _removal_of(self, node: str) -> NodeRemovalRequest | None:
        removals = self._server.kind(NodeRemovalRequest.__name__).objects.values()
        return next((each for each in removals if each.spec.node_name == node), None)


def allowed(
    budgets: Iterable[NodeDisruptionBudget], reason: DisruptionReason, *, nodes: int, wall: datetime
) -> int:
    """How many of so many nodes budgets let go at a time, counted without growth's rules."""
    most = nodes
    for budget in budgets:
        if budget.reasons and reason not in budget.reasons:
            continue
        if budget.window is not None and not _is_open(budget.window, wall):
            continue
        share = budget.nodes.unit == "%"
        number = -(-nodes * budget.nodes.number // 100) if share else budget.nodes.number
        most = min(most, number)
    return most


def _is_open(window: BudgetWindow, wall: datetime) -> bool:
    """Whether a window of every day is open: the simulated people write no days."""
    opens = datetime.combine(wall.date(), time.fromisoformat(window.start), wall.tzinfo)
    lasts = window.duration.timedelta
    return any(start <= wall < start + lasts for start in (opens, opens - timedelta(days=1)))
