"""Checks that orphans are found in time.

Each machine has a NodeRequest, a Node or a removal. If all are gone, growth opens a removal,
unless there are too many orphans at once. Then it touches none of them, sets a condition on the
pools and waits for a person, because a restored cluster looks like that; the time for each machine
starts again when this ends. The same is true while another growth buys in this project, and then
until there is no orphan. The orphans are counted at the provider and the server, not taken from a
process: a machine whose removal has existed for long doesn't count as lost at once with others.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.removal_reason import RemovalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.surroundings import Surroundings

REMOVALS: Final = NodeRemovalRequest.__name__
FOUND_WITHIN: Final = 900.0
"""Seconds within which an orphan must have a removal, whatever else fails."""
ALWAYS_BELIEVED: Final = 2
BELIEVED: Final = 0.1
"""The share of machines that may be orphans at once."""


class Unknown:
    """The current orphans by name."""

    def __init__(
        self, around: Surroundings, cloud: SimulatedCloud, *, breach: Callable[[str, str], None]
    ) -> None:
        self._since: dict[str, float] = {}
        self._are_many = False
        self._were_foreign = False
        """Whether another growth's machines were listed, and there were orphans ever since."""
        self._were_many_at = float("-inf")
        self._server = around.server
        self._timeline = around.timeline
        self._cloud = cloud
        self._breach = breach

    @property
    def names(self) -> Iterable[str]:
        """The names of the current orphans, also of those whose removal is held."""
        return [name for name in self._cloud.machines if self._is_orphan(name)]

    def look(self, name: str) -> None:
        """Check a machine after a change."""
        if name not in self._cloud.machines or self._is_known(name):
            self._since.pop(name, None)
        elif name not in self._since:
            self._since[name] = self._timeline.now
            self._timeline.after(FOUND_WITHIN, self._check, name, self._timeline.now)
        self._count()

    def _check(self, name: str, since: float) -> None:
        if self._since.get(name) != since:
            return
        self._count()
        end = max(since, self._were_many_at) + FOUND_WITHIN
        if end <= self._timeline.now:
            self._breach("every machine is known", f"nobody knows {name} for {FOUND_WITHIN:.0f} s")
        else:
            self._timeline.at(end, self._check, name, since)

    def _is_orphan(self, name: str) -> bool:
        removal: NodeRemovalRequest | None = self._server.kind(REMOVALS).named(name)
        is_going = removal is not None and removal.spec.reason is not RemovalReason.ORPHAN
        return not is_going and not self._has_object(name)

    def _is_known(self, name: str) -> bool:
        return self._has_object(name) or self._server.kind(REMOVALS).named(name) is not None

    def _has_object(self, name: str) -> bool:
        kinds = (NodeRequest.__name__, "nodes")
        return any(self._server.kind(kind).named(name) is not None for kind in kinds)

    def _count(self) -> None:
        """Note whether there are so many orphans at once that none of them may be touched."""
        are_many = bool(self._since) and self._are_too_many()
        if self._cloud.foreign or self._were_foreign:
            self._were_foreign = are_many = bool(self._cloud.foreign or self.names)
        if are_many or self._are_many:
            self._were_many_at = self._timeline.now
        self._are_many = are_many

    def _are_too_many(self) -> bool:
        """Whether one of the clouds has lost too many: growth judges each by itself."""
        machines, class_of = self._cloud.machines, self._cloud.class_of
        every = Counter(map(class_of, machines))
        lost = Counter(class_of(name) for name in machines if self._is_lost_of_late(name))
        return any(
            number > max(ALWAYS_BELIEVED, BELIEVED * every[key]) for key, number in lost.items()
        )

    def _is_lost_of_late(self, name: str) -> bool:
        removal: NodeRemovalRequest | None = self._server.kind(REMOVALS).named(name)
        if self._has_object(name):
            return False
        made = None if removal is None else removal.metadata.creation_timestamp
        return made is None or (self._server.wall - made).total_seconds() < FOUND_WITHIN
