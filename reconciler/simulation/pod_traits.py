"""What workloads say of their pods besides their size.

Each kind is one of the swarm, so a seed has some of them. All of it is drawn from a stream of its
own, so that the other pods of a seed stay the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.simulation.evictions import HealthyPods
from reconciler.simulation.faults import SimulatedFault

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.simulation.chance import Chance

NAME: Final = "app"
"""The label by which budgets and rules select the pods of a workload."""
POD_KINDS: Final = frozenset({SimulatedFault.POD_BUDGETS})
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


class PodTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What a workload says."""

    needs: HealthyPods | None = None
    """What its budget requires; None without a budget."""


def drawn_traits(chance: Chance, kinds: frozenset[SimulatedFault]) -> PodTraits:
    """The traits of one workload, of the kinds that a seed has."""
    is_guarded, needs = chance.happens(GUARDED), chance.one_of(POD_BUDGETS)
    return PodTraits(needs=needs if is_guarded and SimulatedFault.POD_BUDGETS in kinds else None)


def labelled(pod: Pod, name: str) -> Pod:
    """The template with the label of its workload."""
    metadata = msgspec.structs.replace(pod.metadata, labels={**pod.metadata.labels, NAME: name})
    return msgspec.structs.replace(pod, metadata=metadata)
