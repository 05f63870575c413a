"""The waits and limits of a cache, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CacheTiming:
    """Seconds, but for the page size. Tests shorten them."""

    silence: float = 90.0
    """A stream without a byte for so long is dead: bookmarks come each minute."""
    life: tuple[float, float] = (300.0, 600.0)
    """How long one watch lives, by chance, so that load spreads over servers that were added."""
    refresh: tuple[float, float] = (2400.0, 4800.0)
    """A list is asked for at least so often, by chance: an event that was lost on the way, which
    nothing else would tell, is found by it. It comes from the API server's memory."""
    answer: float = 15.0
    """Until a watch begins. A server that is behind refuses after three seconds."""
    list_limit: float = 180.0
    """For a whole list; 50,000 pods need about a tenth of it."""
    page_size: int = 500
    """Objects in one page of a list: 4 MB of pods."""
    steady: float = 5.0
    """A connection that lived so long was a good one: the next failure is a first one again."""
    longest_wait: float = 30.0
    """Between two tries. As long as the API server needs to start."""
    refusals: int = 3
    """So often a server may be behind what we have seen before its newest state is believed."""
    stable_interval: float = 10.0
    """After a suspicious list, the second opinion is asked for so much later."""
    own_write: float = 60.0
    """A write of ours that the watch hasn't shown after so long is looked for in a new list: what
    it made may have been taken back by a restore, and its event will never come. What we created is
    looked for as soon as the watch has gone past it."""
    gathering: float = 0.01
    """While a list streams: what comes within is taken in at once."""
