"""PodDisruptionBudgets: whether a pod may be evicted now.

The answer is the one that the eviction API would give, so that growth doesn't ask for evictions
that would be refused. It isn't binding: the API server checks and counts again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from growth.scheduling import selectors
from growth.scheduling.metadata import Metadata
from growth.scheduling.selectors import LabelSelector, Selector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod


class BudgetSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The pods that a budget covers; minAvailable and maxUnavailable are read by its controller."""

    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class BudgetStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The counts of the disruption controller."""

    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0


class PodDisruptionBudget(msgspec.Struct, frozen=True, dict=True):
    """A limit on how many of its pods may be missing at once."""

    metadata: Metadata = Metadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()

    @cached_property
    def selector(self) -> Selector:
        """Null selects no pods, empty selects the whole namespace (policy/v1)."""
        return selectors.compiled_selector(self.spec.selector)

    def covers(self, pod: Pod) -> bool:
        """Whether the budget covers the pod."""
        is_near = pod.metadata.namespace == self.metadata.namespace
        return is_near and self.selector.matches(pod.metadata.labels)

    @property
    def allowed(self) -> int:
        """The number of disruptions allowed now; 0 while the controller is behind."""
        # An old status may allow more than the current spec. The eviction API refuses as well.
        if self.status.observed_generation < self.metadata.generation:
            return 0
        return max(self.status.disruptions_allowed, 0)


BudgetsByLabel: TypeAlias = Mapping[
    tuple[str, tuple[str, str] | None], Sequence[PodDisruptionBudget]
]
"""Budgets by their namespace and a label that their pods must have."""


def by_label(budgets: Iterable[PodDisruptionBudget]) -> BudgetsByLabel:
    """Budgets by a label that their pods must have; those that require none under None.

    A namespace may have thousands of budgets, and each pod is asked about.
    """
    found: defaultdict[tuple[str, tuple[str, str] | None], list[PodDisruptionBudget]]
    found = defaultdict(list)
    for budget in budgets:
        for label in _labels_of(budget.selector):
            found[budget.metadata.namespace, label].append(budget)
    return found


def _labels_of(selector: Selector) -> Iterable[tuple[str, str] | None]:
    if selector.requirements is None:
        return ()
    for each in selector.requirements:
        if each.operator == "In":
            return tuple((each.key, value) for value in set(each.values or ()))
    return (None,)


def budgets_to_check(pod: Pod, known: BudgetsByLabel) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that may cover a pod, by name."""
    namespace = pod.metadata.namespace
    labels = (None, *pod.metadata.labels.items())
    found = [budget for label in labels for budget in known.get((namespace, label), ())]
    return tuple(sorted(found, key=_name) if len(found) > 1 else found)


def is_covered(pod: Pod, known: BudgetsByLabel) -> bool:
    """Whether any of the budgets covers the pod."""
    return any(budget.covers(pod) for budget in budgets_to_check(pod, known))


def _name(budget: PodDisruptionBudget) -> str:
    return budget.metadata.name


def of_pod(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that cover this pod."""
    return tuple(budget for budget in budgets if budget.covers(pod))


def budget_objection(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> str | None:
    """Why the pod may not be evicted now, or None. For people."""
    if pod.is_finished or pod.is_terminating or pod.status.phase == "Pending":
        return None  # the eviction API doesn't check budgets for these pods
    covering = of_pod(pod, budgets)
    if len(covering) > 1:
        names = ", ".join(sorted(budget.metadata.name for budget in covering))
        return f"{pod.name} has several PodDisruptionBudgets ({names}), so it can't be evicted"
    return next((_budgets_objection(pod, budget) for budget in covering), None)


def _budgets_objection(pod: Pod, budget: PodDisruptionBudget) -> str | None:
    # A pod that isn't ready doesn't count as healthy, so evicting it costs the budget nothing.
    if not pod.is_ready and _lets_unhealthy_go(budget):
        return None
    if budget.allowed > 0:
        return None
    status = budget.status
    return (
        f"PodDisruptionBudget {budget.metadata.namespace}/{budget.metadata.name} allows no "
        f"disruption now: healthy pods {status.current_healthy}, required {status.desired_healthy}"
    )


def _lets_unhealthy_go(budget: PodDisruptionBudget) -> bool:
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return budget.status.current_healthy >= budget.status.desired_healthy > 0
