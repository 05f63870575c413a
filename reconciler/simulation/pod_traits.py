"""What workloads say of their pods besides their size.

Each kind is one of the swarm, so a seed has some of them. All of it is drawn from a stream of its
own, so that the other pods of a seed stay the same.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from growth.scheduling.affinity_terms import Affinity, PodAffinity, PodAffinityTerm
from growth.scheduling.selectors import LabelSelector
from growth.scheduling.spread_constraints import TopologySpreadConstraint
from reconciler.simulation.evictions import HealthyPods
from reconciler.simulation.faults import SimulatedFault

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.simulation.chance import Chance

NAME: Final = "app"
"""The label by which budgets and rules select the pods of a workload."""
POD_KINDS: Final = frozenset(
    {
        SimulatedFault.POD_BUDGETS,
        SimulatedFault.SPREAD,
        SimulatedFault.AFFINITY,
        SimulatedFault.PRIORITY,
        SimulatedFault.VOLUMES,
    }
)
"""The kinds that concern pods."""
POD_BUDGETS: Final = (
    HealthyPods(1),
    HealthyPods(2),
    HealthyPods(50, is_share=True),
    HealthyPods(1, may_lack=True),
    HealthyPods(30, is_share=True, may_lack=True),
)
GUARDED: Final = 0.6
"""The share of workloads that have a budget."""
HOST: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
SPREADS: Final = (
    ((HOST, 1, "DoNotSchedule"),),
    ((HOST, 2, "DoNotSchedule"),),
    ((ZONE, 1, "DoNotSchedule"),),
    ((ZONE, 2, "DoNotSchedule"), (HOST, 1, "ScheduleAnyway")),
    ((ZONE, 1, "DoNotSchedule"), (HOST, 1, "DoNotSchedule")),
)
"""Topology keys with their maxSkew, and whether it must hold."""
PRIORITIES: Final = (-10, 0, 0, 0, 100, 1000)
STATEFUL: Final = 0.4
"""The share of workloads with volumes."""
RULED: Final = 0.5
"""The share of workloads with such rules."""


class Company(Enum):
    """What a workload wants of other pods."""

    APART = "apart"
    """No two of its pods on one node."""
    TOGETHER = "together"
    """All of its pods in one zone."""
    AWAY = "away"
    """None of its pods on a node with pods of the workload before."""


class PodTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What a workload says."""

    needs: HealthyPods | None = None
    """What its budget requires; None without a budget."""
    spreads: tuple[tuple[str, int, str], ...] = ()
    company: Company | None = None
    priority: int = 0
    is_stateful: bool = False
    """Whether its pods have numbers and volumes, if they don't complete."""


def drawn_traits(chance: Chance, kinds: frozenset[SimulatedFault]) -> PodTraits:
    """The traits of one workload, of the kinds that a seed has."""
    # All are drawn, so that leaving out one kind changes nothing about the others.
    is_guarded, needs = chance.happens(GUARDED), chance.one_of(POD_BUDGETS)
    is_spread, spreads = chance.happens(RULED), chance.one_of(SPREADS)
    has_company, company = chance.happens(RULED), chance.one_of(tuple(Company))
    priority = chance.one_of(PRIORITIES)
    is_stateful = chance.happens(STATEFUL) and SimulatedFault.VOLUMES in kinds
    return PodTraits(
        # Shares are counted of ReplicaSets alone.
        needs=needs
        if is_guarded and not is_stateful and SimulatedFault.POD_BUDGETS in kinds
        else None,
        spreads=spreads if is_spread and SimulatedFault.SPREAD in kinds else (),
        company=company if has_company and SimulatedFault.AFFINITY in kinds else None,
        priority=priority if SimulatedFault.PRIORITY in kinds else 0,
        is_stateful=is_stateful,
    )


def with_traits(pod: Pod, traits: PodTraits, *, name: str, before: str) -> Pod:
    """The template of a workload; `before` is the workload that was drawn before it."""
    metadata = msgspec.structs.replace(pod.metadata, labels={**pod.metadata.labels, NAME: name})
    spec = msgspec.structs.replace(
        pod.spec,
        topology_spread_constraints=tuple(_constraint(each, name) for each in traits.spreads),
        affinity=_affinity(traits.company, name=name, before=before),
        priority=traits.priority,
    )
    return msgspec.structs.replace(pod, metadata=metadata, spec=spec)


def _constraint(spread: tuple[str, int, str], name: str) -> TopologySpreadConstraint:
    key, skew, otherwise = spread
    return TopologySpreadConstraint(
        topology_key=key,
        max_skew=skew,
        when_unsatisfiable=otherwise,
        label_selector=LabelSelector(match_labels={NAME: name}),
    )


def _affinity(company: Company | None, *, name: str, before: str) -> Affinity | None:
    match company:
        case None:
            return None
        case Company.APART:
            return Affinity(pod_anti_affinity=_term(HOST, name))
        case Company.TOGETHER:
            return Affinity(pod_affinity=_term(ZONE, name))
        case Company.AWAY:
            return Affinity(pod_anti_affinity=_term(HOST, before))
        case _:
            assert_never(company)


def _term(key: str, name: str) -> PodAffinity:
    selector = LabelSelector(match_labels={NAME: name})
    return PodAffinity(required=(PodAffinityTerm(topology_key=key, label_selector=selector),))
