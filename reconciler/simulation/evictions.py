"""The eviction API and the disruption controller, and pods that are deleted instead.

A healthy pod is evicted only if its budget allows a disruption, which is subtracted at once; the
controller counts again a moment later. A pod with two budgets can never be evicted.

As in Kubernetes, a share and maxUnavailable are counted of the replicas that the owners of the
covered pods want, and shares are rounded up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.kube.cache.resource import Key, key_of
from growth.scheduling import budgets
from growth.scheduling.budgets import BudgetSpec, PodDisruptionBudget
from growth.scheduling.metadata import Metadata
from growth.scheduling.selectors import LabelSelector
from reconciler.effects.eviction import EvictionRefusal
from reconciler.seeing.indexes import REPLICA_SETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.metadata import OwnerReference
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Evict
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

BUDGETS: Final = "budgets"
COUNTED_AFTER: Final = 0.1
"""Seconds until the status of a budget follows its pods."""


class HealthyPods(NamedTuple):
    """How many healthy pods a budget requires."""

    number: int
    is_share: bool = False
    """Whether the number is a percentage of the replicas."""
    may_lack: bool = False
    """Whether so many may be missing, and not so many must be there."""

    def of(self, replicas: int) -> int:
        """The pods that must be healthy, of this many replicas."""
        counted = -(-replicas * self.number // 100) if self.is_share else self.number
        return max(replicas - counted, 0) if self.may_lack else counted


class Evictions:
    """The eviction API with its budgets."""

    def __init__(self, around: Surroundings, kubelets: Kubelets) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        self._kubelets = kubelets
        self._wanted: dict[Key, HealthyPods] = {}
        """The healthy pods that each budget requires."""
        self._is_due = False
        self._is_evicting = False
        self._moved_at = -COUNTED_AFTER
        """When a pod or an owner last changed other than by an eviction."""
        server.evict = self.evict
        for kind in ("pods", REPLICA_SETS):
            server.kind(kind).heard_by.append(self._count_soon)

    def guard(
        self, name: str, *, namespace: str, selects: Mapping[str, str], needs: HealthyPods
    ) -> None:
        """Create or change a budget for the pods with these labels."""
        key = Key(namespace, name)
        known, self._wanted[key] = key in self._wanted, needs
        if not known:
            spec = BudgetSpec(selector=LabelSelector(match_labels=dict(selects)))
            metadata = Metadata(name=name, namespace=namespace)
            self._server.create(BUDGETS, PodDisruptionBudget(metadata, spec))
        self._count()

    def lift(self, name: str, *, namespace: str) -> None:
        """Delete a budget."""
        key = Key(namespace, name)
        if self._wanted.pop(key, None) is not None:
            self._server.delete(BUDGETS, key)

    def lacking(self, pod: Pod) -> tuple[str, ...]:
        """The budgets of a pod that have fewer healthy pods than they need."""
        covering = budgets.of_pod(pod, self._server.kind(BUDGETS).objects.values())
        return tuple(
            budget.metadata.name
            for budget in covering
            if self._healthy(budget) < self._needed(budget)
        )

    def evict(self, asked: Evict) -> EvictionRefusal | None:
        """Answer an eviction; None if the pod is evicted or already gone."""
        key = Key(asked.namespace, asked.name)
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        if pod is None or pod.metadata.uid != asked.uid:
            return None
        counting = budgets.of_pod(pod, self._server.kind(BUDGETS).objects.values())
        why = budgets.budget_objection(pod, counting)
        if why is not None and asked.ends_within is None:
            return EvictionRefusal(why)
        # Before the controller counts again: two evictions at the same moment would otherwise both
        # be allowed.
        if why is None and counting and pod.status.phase == "Running" and not pod.is_terminating:
            self._take_one(Key(asked.namespace, counting[0].metadata.name))
        self._is_evicting = True
        self._kubelets.end(key, within=asked.ends_within)
        self._is_evicting = False
        return None

    def _take_one(self, key: Key) -> None:
        def less(budget: PodDisruptionBudget) -> PodDisruptionBudget:
            left = max(budget.status.disruptions_allowed - 1, 0)
            return _with_status(budget, disruptions_allowed=left)

        self._server.change(BUDGETS, key, less)

    @property
    def is_up_to_date(self) -> bool:
        """Whether the controller has counted everything but the latest evictions."""
        return self._timeline.now - self._moved_at > COUNTED_AFTER

    def _count_soon(self, _: StoredChange) -> None:
        if not self._is_evicting:
            self._moved_at = self._timeline.now
        if self._wanted and not self._is_due:
            self._is_due = True
            self._timeline.after(COUNTED_AFTER, self._count)

    def _count(self) -> None:
        self._is_due = False
        for key in self._wanted:
            self._server.change(BUDGETS, key, self._counted)

    def _counted(self, budget: PodDisruptionBudget) -> PodDisruptionBudget:
        healthy, needed = self._healthy(budget), self._needed(budget)
        counted = _with_status(
            budget,
            observed_generation=budget.metadata.generation,
            disruptions_allowed=max(healthy - needed, 0),
            current_healthy=healthy,
            desired_healthy=needed,
        )
        return budget if counted.status == budget.status else counted

    def _covered(self, budget: PodDisruptionBudget) -> list[Pod]:
        pods = self._server.kind("pods").objects.values()
        return [pod for pod in pods if budget.covers(pod) and not pod.is_finished]

    def _healthy(self, budget: PodDisruptionBudget) -> int:
        return sum(map(counts_as_healthy, self._covered(budget)))

    def _needed(self, budget: PodDisruptionBudget) -> int:
        needs = self._wanted[key_of(budget)]
        if not needs.is_share and not needs.may_lack:
            return needs.number
        namespace = budget.metadata.namespace
        owners = {pod.metadata.controller for pod in self._covered(budget)}
        return needs.of(sum(self._replicas(owner, namespace) for owner in owners if owner))

    def _replicas(self, owner: OwnerReference, namespace: str) -> int:
        found = self._server.kind(REPLICA_SETS).objects.get(Key(namespace, owner.name))
        return 0 if found is None else found.spec.replicas


def counts_as_healthy(pod: Pod) -> bool:
    """Whether a pod counts as healthy for its budget."""
    return pod.is_ready and not pod.is_terminating


def _with_status(budget: PodDisruptionBudget, **changes: int) -> PodDisruptionBudget:
    status = msgspec.structs.replace(budget.status, **changes)
    return msgspec.structs.replace(budget, status=status)
