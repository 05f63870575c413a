"""A simulated cluster with all of its controllers, but without any workload.

The workload comes from outside: from a seed, or from a written story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.simulation.auditor import Auditor
from reconciler.simulation.budget_auditor import BudgetAuditor
from reconciler.simulation.cloud import SimulatedCloud
from reconciler.simulation.daemons import Daemons
from reconciler.simulation.evictions import Evictions
from reconciler.simulation.kubelets import Kubelets
from reconciler.simulation.lives import Lives
from reconciler.simulation.plan_auditor import PlanAuditor
from reconciler.simulation.pod_auditor import PodAuditor
from reconciler.simulation.pod_collector import PodCollector
from reconciler.simulation.possible import Possible
from reconciler.simulation.preferences import preferred_node
from reconciler.simulation.process import TIMING, Parts
from reconciler.simulation.replicas import ReplicaController
from reconciler.simulation.scheduler import SimulatedScheduler
from reconciler.simulation.stateful import StatefulSets
from reconciler.simulation.surroundings import surroundings
from reconciler.simulation.trace import LAST_LINES

if TYPE_CHECKING:
    from reconciler.simulation.cloud import SimulatedJoining
    from reconciler.simulation.preferences import Prefer
    from reconciler.simulation.story import Story


class Living:
    """The cluster of one story; our process starts with `lives.begin`."""

    def __init__(
        self,
        story: Story,
        joining: SimulatedJoining,
        *,
        parts: Parts | None = None,
        keep: int | None = LAST_LINES,
        prefer: Prefer = preferred_node,
    ) -> None:
        self.around = around = surroundings(story, keep=keep)
        self.timeline = around.timeline
        self.server = around.server
        self.cloud = SimulatedCloud(around, joining)
        self.kubelets = Kubelets(around)
        self.evictions = Evictions(around, self.kubelets)
        self.replicas = ReplicaController(around, self.kubelets)
        self.stateful = StatefulSets(around, self.kubelets)
        Daemons(around)
        PodCollector(around)
        self.possible = Possible(around, SimulatedScheduler(around, self.kubelets, prefer))
        self.auditor = Auditor(around, self.cloud, possible=self.possible, timing=TIMING)
        BudgetAuditor(around, self.evictions, breach=self.auditor.breach)
        PlanAuditor(around, self.cloud, breach=self.auditor.breach)
        PodAuditor(around, self.kubelets, breach=self.auditor.breach)
        self.lives = Lives(around, self.cloud, parts=parts or Parts(), auditor=self.auditor)
