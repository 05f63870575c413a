"""How long growth waits for things. Production keeps the defaults, tests shorten them."""

from __future__ import annotations

import msgspec


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Spans in seconds."""

    stable_interval: float = 10.0
    """All caches must have been whole for so long before anything is removed, and a suspicious
    list must have been confirmed by another one so much later."""
    bind_wait: float = 15.0
    """A node that serves has so long for the pods that it was bought for."""
    together: float = 15.0
    """A machine that is Ready waits at most so long for the others of its plan."""
    listing: float = 10.0
    """Between two listings of a provider's machines while nothing is on its way."""
    attentive_listing: float = 1.0
    """The same while a machine is coming or going."""
    orphan_age: float = 600.0
    """A machine that nobody knows is given back after so long."""
    drain_wait: float = 300.0
    """A node that is to go for the sake of cost or drift stays if its pods don't go in time."""
    repair_after: float = 600.0
    """A node that isn't Ready is replaced after so long."""
    coalesce: float = 0.01
    """Passes are at least this far apart."""
    quiet: float = 15.0
    """A node's pods must have been the same for so long before it is replaced by a cheaper one."""
    searches_every: float | None = None
    """Cheaper nodes are looked for at most so often, as each change may ask for it; unless it is
    said, two thirds of `quiet`."""
    retry: float = 2.0
    """After a provider's trouble that passes by itself."""

    @property
    def between_searches(self) -> float:
        """The same, whether it was said or not."""
        return self.quiet * 2 / 3 if self.searches_every is None else self.searches_every
