"""Machines of one plan open one after the other, and pods that come in between take the wrong ones.

The scheduler hears of the first some milliseconds before it hears of the last, and where one node
is open it needs two or three for a pod: ten of them land where others were planned, who find their
places taken. But it asks about one pod at a time. So a question that comes in between is answered
when all are open: then one pod has been placed too early, and the next one sees all of them.
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
"""Seconds for which the machines of one plan are waited for, all questions together. The scheduler
waits for no answer longer than 0.3."""
FORGOTTEN: Final = 60.0
"""Seconds after which nobody knows any more that they were."""


class Opening:
    """Follows the caches of requests and nodes."""

    def __init__(self) -> None:
        self._made: dict[str, int] = {}
        """The second in which each machine was asked for: that of its plan. By its node's name."""
        self._shut: set[str] = set()
        """Nodes that nobody but growth keeps pods off, which it is about to end."""
        self._since: dict[int, float] = {}
        """When the machines of a second were waited for at first."""

    def __bool__(self) -> bool:
        """Whether any node is about to open."""
        return bool(self._shut)

    def follow_requests(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Machines were asked for, or their requests have gone."""
        for change in changes:
            if change.old is not None:
                self._made.pop(change.old.node, None)
            if change.new is not None:
                self._made[change.new.node] = second_of(change.new)

    def follow_nodes(self, changes: Sequence[Change[Node]]) -> None:
        """Nodes have come, opened or gone."""
        for change in changes:
            self._shut.discard(change.key.name)
            if change.new is not None and _is_about_to_open(change.new):
                self._shut.add(change.key.name)

    def is_under_way(self, hosts: Iterable[str], now: float) -> bool:
        """Whether others of the same plan as one of these nodes are about to open as well."""
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
