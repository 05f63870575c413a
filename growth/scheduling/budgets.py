"""PodDisruptionBudgets: may a pod be evicted now?

The answer is the one that the eviction API would give, so that nothing is asked for that would be
refused. It is no promise: the API server decides again, and counts.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import selectors
from growth.scheduling.metadata import Metadata
from growth.scheduling.selectors import LabelSelector, Selector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod


class BudgetSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Whose disruptions are counted. minAvailable and maxUnavailable are the controller's work."""

    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class BudgetStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the disruption controller has counted."""

    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0


class PodDisruptionBudget(msgspec.Struct, frozen=True, dict=True):
    """How many of some pods may be missing at once."""

    metadata: Metadata = Metadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()

    @cached_property
    def selector(self) -> Selector:
        """Null counts nothing, empty counts the whole namespace (policy/v1)."""
        return selectors.compiled_selector(self.spec.selector)

    def covers(self, pod: Pod) -> bool:
        """Whether the pod is counted."""
        is_near = pod.metadata.namespace == self.metadata.namespace
        return is_near and self.selector.matches(pod.metadata.labels)

    @property
    def allowed(self) -> int:
        """How many disruptions are allowed now; none while the controller lags behind."""
        if self.status.observed_generation < self.metadata.generation:
            return 0
        return max(self.status.disruptions_allowed, 0)


def of_pod(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that count this pod."""
    return tuple(budget for budget in budgets if budget.covers(pod))


def budget_objection(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> str | None:
    """Why the pod may not be evicted now, or None. For people."""
    if pod.is_finished or pod.is_terminating or pod.status.phase == "Pending":
        return None  # the eviction API asks no budget for a pod that serves nobody
    covering = of_pod(pod, budgets)
    if len(covering) > 1:
        names = ", ".join(sorted(budget.metadata.name for budget in covering))
        return f"{pod.name} is in several budgets ({names}), which the eviction API refuses"
    return next((_budgets_objection(pod, budget) for budget in covering), None)


def _budgets_objection(pod: Pod, budget: PodDisruptionBudget) -> str | None:
    # Evicting a pod that serves nobody takes nothing away from a budget that is met.
    if not pod.is_ready and _lets_unhealthy_go(budget):
        return None
    if budget.allowed > 0:
        return None
    status = budget.status
    return (
        f"budget {budget.metadata.namespace}/{budget.metadata.name} allows 0 disruptions now: "
        f"{status.current_healthy} pods are healthy, {status.desired_healthy} must be"
    )


def _lets_unhealthy_go(budget: PodDisruptionBudget) -> bool:
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return budget.status.current_healthy >= budget.status.desired_healthy > 0
