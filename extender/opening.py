"""Delays the scheduler while the machines of one plan open one after another.

The scheduler learns of the first machine some milliseconds before the last, and needs two or three
milliseconds for a pod. So with one node open, about ten pods land on nodes that were planned for
others. But the scheduler handles one pod at a time. So a call that comes in between is answered
only when all nodes are open: then at most one pod was placed too early, and the next one sees all
nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.demand.one_plan import of_one_plan, second_of
from growth.keeping.marks import is_held_back, is_unregistered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from growth.api.noderequest import NodeRequest
    from growth.kube.cache.contents import Change
    from growth.scheduling.node import Node

LONGEST: Final = 0.15
"""Seconds to wait for the machines of one plan, for all calls together. The scheduler's own timeout
is 0.3 seconds."""
FORGOTTEN: Final = 60.0
"""Seconds after which a plan is forgotten."""


class Opening:
    """Follows the caches of requests and nodes."""

    def __init__(self) -> None:
        self._made: dict[str, int] = {}
        """The second in which each machine was requested, to identify its plan; by node name."""
        self._shut: set[str] = set()
        """Ready nodes that only growth's start-up taint still keeps closed."""
        self._since: dict[int, float] = {}
        """When the wait for the machines of a second began."""

    def __bool__(self) -> bool:
        """Whether any node is about to open."""
        return bool(self._shut)

    def follow_requests(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Handle new and deleted NodeRequests."""
        for change in changes:
            if change.old is not None:
                self._made.pop(change.old.node, None)
            if change.new is not None:
                self._made[change.new.node] = second_of(change.new)

    def follow_nodes(self, changes: Sequence[Change[Node]]) -> None:
        """Handle new, changed and deleted nodes."""
        for change in changes:
            self._shut.discard(change.key.name)
            if change.new is not None and _is_about_to_open(change.new):
                self._shut.add(change.key.name)

    def is_under_way(self, hosts: Iterable[str], now: float) -> bool:
        """Whether other nodes of the same plan as one of these are about to open."""
        hosts = frozenset(hosts)
        opened = {self._made[host] for host in hosts if host in self._made}
        shut = {self._made[name] for name in self._shut - hosts if name in self._made}
        plans = {second for second in shut if not opened.isdisjoint(of_one_plan(second))}
        for second in plans - self._since.keys():
            self._since = {each: at for each, at in self._since.items() if now - at < FORGOTTEN}
            self._since[second] = now
        return any(now - self._since[second] < LONGEST for second in plans)


def _is_about_to_open(node: Node) -> bool:
    return node.is_ready and is_unregistered(node) and not is_held_back(node)
