"""How many nodes are missing, or are too many: from the counts of a pool alone."""

from __future__ import annotations

from math import inf

import msgspec


def clamped_count(desired: int, *, least: int, most: float) -> int:
    """The desired number of nodes within its bounds; the maximum counts last."""
    return int(min(max(desired, least), most))


def count_with_pending(current: int, needed: int, *, least: int, most: float) -> int:
    """The desired number when pending pods need so many more nodes."""
    return clamped_count(current + needed, least=least, most=most)


class SizeCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many nodes a pool has and should have."""

    current: int
    """Nodes that exist, including those on their way."""
    desired: int
    least: int = 0
    most: float = inf

    @property
    def may_grow(self) -> bool:
        """Whether the maximum leaves room."""
        return self.current < self.most

    @property
    def may_shrink(self) -> bool:
        """Whether the minimum leaves room."""
        return self.current > self.least

    @property
    def needs_more(self) -> bool:
        """Whether nodes are missing that may be added."""
        return self.current < self.desired and self.may_grow

    @property
    def needs_fewer(self) -> bool:
        """Whether there are nodes too many that may go."""
        return self.current > self.desired and self.may_shrink

    @property
    def is_scaling(self) -> bool:
        """Whether the pool isn't at its desired size yet."""
        return self.current != self.desired

    def is_settled(self, ready: int) -> bool:
        """Whether all desired nodes are there and ready."""
        return not self.is_scaling and ready == self.desired

    def missing(self, *, batch: int = 0) -> int:
        """How many nodes to add, at most one batch; 0 is no batch.

        Below zero if there are more nodes than the maximum or the desired number allows.
        """
        step = min(self.desired - self.current, self.most - self.current)
        return int(min(step, batch) if batch > 0 else step)

    @property
    def excess(self) -> int:
        """How many nodes may go."""
        return max(min(self.current - self.desired, self.current - self.least), 0)

    def wants_growth(self, *, unschedulable: int) -> bool:
        """Whether one of the three reasons to grow is there: pods, a gap, or too few nodes."""
        is_short = self.current < self.desired or self.current < self.least
        return unschedulable > 0 or is_short

    def wants_shrinking(self, *, underused: int, has_cooled: bool) -> bool:
        """Whether nodes may be looked for that go: too many or badly used ones."""
        return has_cooled and (self.current > self.desired or underused > 0)


def raised_count(
    counts: SizeCounts, *, ready: int, needed: int, batch: int, cools: bool
) -> int | None:
    """The desired number that pending pods raise the old one to; None if it stays.

    While nodes are still coming up, these pods may be the ones that they are for. So the next step
    waits until all nodes are ready.
    """
    if cools or ready < counts.desired:
        return None
    wanted = count_with_pending(counts.current, needed, least=counts.least, most=counts.most)
    more = msgspec.structs.replace(counts, desired=wanted).missing(batch=batch)
    return counts.current + more if counts.current + more > counts.desired else None
