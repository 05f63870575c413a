"""The waits and limits of a cache, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CacheTiming:
    """Seconds, except for the page size and `refusals`. Tests shorten them."""

    silence: float = 90.0
    """A stream is dead after this time without a byte; bookmarks are sent each minute."""
    life: tuple[float, float] = (300.0, 600.0)
    """The random length of a watch, so that load spreads to API servers that were added."""
    refresh: tuple[float, float] = (2400.0, 4800.0)
    """The random time between regular lists, which find events that were lost unnoticed. The API
    server answers them from memory."""
    answer: float = 15.0
    """The time until a watch must begin. A server that is behind refuses after three seconds."""
    list_limit: float = 180.0
    """The longest time for a complete list; 50,000 pods need about a tenth of it."""
    page_size: int = 500
    """Objects in one page of a list: 4 MB of pods."""
    steady: float = 5.0
    """After a connection of this length, the back-off starts again with the shortest wait."""
    longest_wait: float = 30.0
    """The longest wait between two tries: about as long as an API server needs to start."""
    refusals: int = 3
    """After this many refusals of a server that is behind, its newest state is accepted."""
    stable_interval: float = 10.0
    """The time between a suspicious list and the one that must confirm it."""
    own_write: float = 60.0
    """After this time, a write of ours that the watch hasn't shown is looked up in a new list. A
    restore may have undone it, and then its event never comes. An object that we created is looked
    up as soon as the watch has gone past its version."""
    gathering: float = 0.01
    """While a list streams, bytes are collected for this long before they are decoded."""
