"""What must never happen to pods, looked at after every change of one.

A pod that runs ends because somebody may have asked for it: its controller, a person, or the
eviction API, which asks its budgets. And what a person has cordoned stays theirs.
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
"""Seconds that a call may be on its way."""


class PodAuditor:
    """Everything that has to hold of pods, and of who may touch their nodes."""

    def __init__(
        self, around: Surroundings, kubelets: Kubelets, *, breach: Callable[[str, str], None]
    ) -> None:
        self._server = server = around.server
        self._wished = kubelets.wished
        self._breach = breach
        self._timeline = around.timeline
        self._is_fenced = SimulatedFault.FREEZE not in around.faults.kinds
        self._opened_at: dict[str, float] = {}
        """When a cordon was last lifted, by the node's name."""
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
        """A pod is moved from a node to which nothing comes any more, or it would come back."""
        pod = self._server.kind("pods").named(asked.name, namespace=asked.namespace)
        node = None if pod is None else self._server.kind("nodes").named(pod.spec.node_name)
        if node is not None and not node.spec.unschedulable and self._is_fenced:
            # What was sent while it was closed may arrive a moment after that.
            was_closed = self._timeline.now - self._opened_at.get(node.name, -A_MOMENT) < A_MOMENT
            if not was_closed:
                self._breach("who is drained is cordoned", f"{asked.name} on {node.name}")
        return self._evict(asked)

    def _is_excused(self, pod: Pod) -> bool:
        """Whether somebody may have asked for it, or its node is gone and it is collected."""
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
