"""Nodes as growth believes them, kept current with each change of a Node or of a record.

Both have the machine's name, so a change costs one look at the other, whatever the size of the
cluster.
"""

from __future__ import annotations

from collections.abc import Callable

from growth.api.noderecord import NodeRecord
from growth.api.wellknown import MANAGED_BY_LABEL
from growth.keeping.believing import is_node_of
from growth.scheduling.node import Node
from reconciler.seeing.claimants import Claimants

Belief = Callable[[Node, NodeRecord | None], Node]
"""What is made of a Node and of the record of its name."""


def as_written(node: Node, _: NodeRecord | None) -> Node:
    """For a reader that believes whatever is written, as kube-scheduler does."""
    return node


class BelievedNodes:
    """All Nodes and all records, and what follows from them together."""

    def __init__(self, believe: Belief) -> None:
        self._believe = believe
        self.believed: dict[str, Node] = {}
        """Each Node as rules see it."""
        self.records: dict[str, NodeRecord] = {}
        self.unbound: dict[str, NodeRecord] = {}
        """Records that don't name the Node yet that has joined as their machine."""
        self.misread: dict[str, Node] = {}
        """Nodes of machines, as they are written, if rules see something else."""
        self.strangers: dict[str, Node] = {}
        """Nodes that claim to be growth's and have no record, as they are written."""
        self._written: dict[str, Node] = {}
        self.claimants = Claimants(self._written, self.records)

    def node_changed(self, name: str, node: Node | None) -> None:
        """Handle a Node; None if it is gone."""
        before = self._written.pop(name, None)
        if node is not None:
            self._written[name] = node
        self._look(name)
        self.claimants.node_changed(before, node)

    def record_changed(self, name: str, record: NodeRecord | None) -> None:
        """Handle a record; None if it is gone."""
        before = self.records.pop(name, None)
        if record is not None:
            self.records[name] = record
        self._look(name)
        self.claimants.record_changed(before, record)

    def _look(self, name: str) -> None:
        for known in (self.believed, self.unbound, self.misread, self.strangers):
            known.pop(name, None)
        written, record = self._written.get(name), self.records.get(name)
        if written is None:
            return
        node = self.believed[name] = self._believe(written, record)
        if record is None or not is_node_of(written, record):
            if MANAGED_BY_LABEL in written.labels:
                self.strangers[name] = written
            return
        if node is not written:
            self.misread[name] = written
        joined = record.status.node
        if joined is None or joined.uid != written.metadata.uid:
            self.unbound[name] = record
