"""Checks what must never happen to pods, after each change of a pod.

A running pod may end only because of its controller, a person, or the eviction API, which checks
its budgets. And growth never touches a person's cordon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import CORDONED_ANNOTATION
from growth.scheduling.emptiness import keeps_its_node
from reconciler.simulation.faults import SimulatedFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Evict
    from reconciler.effects.eviction import EvictionRefusal
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

A_MOMENT: Final = 5.0
"""The longest time in seconds that a call is on its way."""


class PodAuditor:
    """Checks everything that must hold for pods and for cordons."""

    def __init__(
        self, around: Surroundings, kubelets: Kubelets, *, breach: Callable[[str, str], None]
    ) -> None:
        self._server = server = around.server
        self._wished = kubelets.wished
        self._breach = breach
        self._timeline = around.timeline
        # A process that stood still may send what it decided on before another one took over: the
        # API server doesn't know who leads.
        self._is_fenced = SimulatedFault.FREEZE not in around.faults.kinds
        self._opened_at: dict[str, float] = {}
        """When each node was last uncordoned."""
        self._evict = server.evict
        server.evict = self._asked
        server.kind("pods").heard_by.append(self._pod_changed)
        server.kind("nodes").heard_by.append(self._node_changed)

    def _pod_changed(self, event: StoredChange) -> None:
        before: Pod | None = event.old
        if before is None or not before.spec.node_name or not keeps_its_node(before):
            return
        ends = event.new is None or event.new.is_terminating
        if ends and not before.is_terminating and not self._is_excused(before):
            self._breach("pods end by eviction only", f"{before.name} on {before.spec.node_name}")

    def _asked(self, asked: Evict) -> EvictionRefusal | None:
        """Check that a pod is evicted only from a cordoned node; otherwise it could come back."""
        pod = self._server.kind("pods").named(asked.name, namespace=asked.namespace)
        node = None if pod is None else self._server.kind("nodes").named(pod.spec.node_name)
        if node is not None and not node.spec.unschedulable and self._is_fenced:
            # A call that was sent while the node was cordoned may arrive a moment later.
            was_closed = self._timeline.now - self._opened_at.get(node.name, -A_MOMENT) < A_MOMENT
            if not was_closed:
                self._breach("who is drained is cordoned", f"{asked.name} on {node.name}")
        return self._evict(asked)

    def _is_excused(self, pod: Pod) -> bool:
        """Whether its end was requested in a legitimate way, or its node is gone."""
        is_there = self._server.kind("nodes").named(pod.spec.node_name) is not None
        return pod.metadata.uid in self._wished or not is_there

    def _node_changed(self, event: StoredChange) -> None:
        old: Node | None = event.old
        new: Node | None = event.new
        if old is None or new is None or not old.spec.unschedulable:
            return
        if not new.spec.unschedulable:
            self._opened_at[new.name] = self._timeline.now
        was_a_persons = CORDONED_ANNOTATION not in old.metadata.annotations
        is_ours = CORDONED_ANNOTATION in new.metadata.annotations
        if was_a_persons and is_ours:
            self._breach("a person's cordon is never touched", new.name)
