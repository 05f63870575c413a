"""Nodes that claim a machine without being its Node, kept current with each change.

Such a Node bears the name of a record or the ID of its machine. Both are looked up, so a change
costs the same whatever the size of the cluster; and most changes of a Node, its heartbeats, change
nothing that counts here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from growth.api.conditions import condition_of_type
from growth.api.noderecord import CONTESTED
from growth.keeping.believing import claims_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderecord import NodeRecord
    from growth.scheduling.node import Node


class Claimants:
    """The claimants of each record, among all Nodes."""

    def __init__(self, nodes: Mapping[str, Node], records: Mapping[str, NodeRecord]) -> None:
        """Both are current when a change is told."""
        self._nodes = nodes
        self._records = records
        self._nodes_by_id: defaultdict[str, set[str]] = defaultdict(set)
        self._records_by_id: defaultdict[str, set[str]] = defaultdict(set)
        self.found: dict[str, tuple[Node, ...]] = {}
        """Claimants by the name of the record; none where only its condition is left of them."""

    def node_changed(self, before: Node | None, after: Node | None) -> None:
        """Handle a Node, as it is written."""
        if _identity(before) == _identity(after):
            return
        for node, change in ((before, set.discard), (after, set.add)):
            if node is not None and node.spec.provider_id:
                change(self._nodes_by_id[_key(node.spec.provider_id)], node.name)
        for node in (before, after):
            if node is not None:
                concerned = {node.name, *self._records_by_id.get(_key(node.spec.provider_id), ())}
                self._look(concerned)
                _tidy(self._nodes_by_id, _key(node.spec.provider_id))

    def record_changed(self, before: NodeRecord | None, after: NodeRecord | None) -> None:
        """Handle a record."""
        for record, change in ((before, set.discard), (after, set.add)):
            if record is not None:
                change(self._records_by_id[_key(record.spec.node_id)], record.name)
        for record in (before, after):
            if record is not None:
                self._look({record.name})
                _tidy(self._records_by_id, _key(record.spec.node_id))

    def _look(self, names: set[str]) -> None:
        for name in names:
            record = self._records.get(name)
            claimants = () if record is None else self._of(record)
            if record is not None and (claimants or _is_told_of(record)):
                self.found[name] = claimants
            else:
                self.found.pop(name, None)

    def _of(self, record: NodeRecord) -> tuple[Node, ...]:
        names = {record.name, *self._nodes_by_id.get(_key(record.spec.node_id), ())}
        nodes = (self._nodes[name] for name in sorted(names) if name in self._nodes)
        return tuple(node for node in nodes if claims_machine(node, record))


def _identity(node: Node | None) -> tuple[str, str] | None:
    return None if node is None else (node.metadata.uid, node.spec.provider_id)


def _key(machine_id: str) -> str:
    """What a providerID and the ID of its machine have in common, in all forms of both."""
    return machine_id.rpartition("/")[2]


def _tidy(known: defaultdict[str, set[str]], key: str) -> None:
    if not known.get(key):
        known.pop(key, None)


def _is_told_of(record: NodeRecord) -> bool:
    return condition_of_type(record.status.conditions, CONTESTED) is not None
