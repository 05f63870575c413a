"""The eviction API and the disruption controller.

A healthy pod is evicted only if its budget allows a disruption, which is subtracted at once; the
controller counts again a moment later. A pod with two budgets can never be evicted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.kube.cache.resource import Key
from growth.scheduling import budgets
from growth.scheduling.budgets import BudgetSpec, PodDisruptionBudget
from growth.scheduling.metadata import Metadata
from growth.scheduling.selectors import LabelSelector
from reconciler.effects.eviction import EvictionRefusal

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Evict
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

BUDGETS: Final = "budgets"
COUNTED_AFTER: Final = 0.1
"""Seconds until the status of a budget follows its pods."""


class Evictions:
    """The eviction API with its budgets."""

    def __init__(self, around: Surroundings, kubelets: Kubelets) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        self._kubelets = kubelets
        self._wanted: dict[Key, int] = {}
        """The number of healthy pods that each budget requires."""
        self._is_due = False
        server.evict = self.evict
        server.kind("pods").heard_by.append(self._pod_changed)

    def guard(self, name: str, *, namespace: str, labels: dict[str, str], healthy: int) -> None:
        """Create or change a budget that requires this many healthy pods with these labels."""
        key = Key(namespace, name)
        known, self._wanted[key] = key in self._wanted, healthy
        if not known:
            spec = BudgetSpec(selector=LabelSelector(match_labels=labels))
            metadata = Metadata(name=name, namespace=namespace)
            self._server.create(BUDGETS, PodDisruptionBudget(metadata, spec))
        self._count()

    def evict(self, asked: Evict) -> EvictionRefusal | None:
        """Answer an eviction; None if the pod is evicted or already gone."""
        key = Key(asked.namespace, asked.name)
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        if pod is None or pod.metadata.uid != asked.uid:
            return None
        counting = budgets.of_pod(pod, self._server.kind(BUDGETS).objects.values())
        why = budgets.budget_objection(pod, counting)
        if why is not None:
            return EvictionRefusal(why)
        # Before the controller counts again: two evictions at the same moment would otherwise both
        # be allowed.
        if counting and pod.status.phase == "Running" and not pod.is_terminating:
            self._take_one(Key(asked.namespace, counting[0].metadata.name))
        self._kubelets.end(key)
        return None

    def _take_one(self, key: Key) -> None:
        def less(budget: PodDisruptionBudget) -> PodDisruptionBudget:
            left = max(budget.status.disruptions_allowed - 1, 0)
            return _with_status(budget, disruptions_allowed=left)

        self._server.change(BUDGETS, key, less)

    def _pod_changed(self, _: StoredChange) -> None:
        if self._wanted and not self._is_due:
            self._is_due = True
            self._timeline.after(COUNTED_AFTER, self._count)

    def _count(self) -> None:
        self._is_due = False
        for key, healthy in self._wanted.items():
            self._server.change(BUDGETS, key, partial(self._counted, least=healthy))

    def _counted(self, budget: PodDisruptionBudget, *, least: int) -> PodDisruptionBudget:
        pods = self._server.kind("pods").objects.values()
        covered = [pod for pod in pods if budget.covers(pod) and not pod.is_finished]
        healthy = sum(counts_as_healthy(pod) for pod in covered)
        counted = _with_status(
            budget,
            observed_generation=budget.metadata.generation,
            disruptions_allowed=max(healthy - least, 0),
            current_healthy=healthy,
            desired_healthy=least,
        )
        return budget if counted.status == budget.status else counted


def counts_as_healthy(pod: Pod) -> bool:
    """Whether a pod counts as healthy for its budget."""
    return pod.is_ready and not pod.is_terminating


def _with_status(budget: PodDisruptionBudget, **changes: int) -> PodDisruptionBudget:
    status = msgspec.structs.replace(budget.status, **changes)
    return msgspec.structs.replace(budget, status=status)
