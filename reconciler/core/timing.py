"""How long growth waits for things. Some are settings, with these defaults; tests shorten them."""

from __future__ import annotations

import msgspec


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Spans in seconds."""

    stable_interval: float = 10.0
    """How long all caches must have been complete before anything is removed, and how much later
    another list must confirm a suspicious one."""
    bind_wait: float = 15.0
    """How long a node that serves is kept for the pods it was bought for."""
    together: float = 15.0
    """The most that a Ready machine waits for the others of its plan."""
    listing: float = 10.0
    """Between two listings of a provider's machines while nothing is on its way."""
    attentive_listing: float = 1.0
    """The same while a machine is coming or going."""
    orphan_age: float = 600.0
    """How long an orphan is kept before it is given back."""
    drain_wait: float = 300.0
    """How long a drain for cost or drift may take; then it is given up."""
    repair_after: float = 600.0
    """How long a node may be NotReady before it is replaced."""
    coalesce: float = 0.01
    """Passes are at least this far apart."""
    quiet: float = 15.0
    """How long a node's pods must be unchanged before it may be replaced with a cheaper one."""
    searches_every: float | None = None
    """The least time between two searches for cheaper nodes, since every change may cause one.
    Default: two thirds of `quiet`."""
    retry: float = 2.0
    """The first pause after a transient failure of a provider."""

    @property
    def between_searches(self) -> float:
        """`searches_every`, or its default."""
        return self.quiet * 2 / 3 if self.searches_every is None else self.searches_every
