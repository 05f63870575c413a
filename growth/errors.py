"""Errors by reaction: what the code that catches one does.

There are four reactions, so there are four classes; a new kind of failure uses one of them. Bugs
have no class here: they are ordinary exceptions and end the process. After a restart, it begins
with what the API server and the provider say.
"""

from __future__ import annotations


class GrowthError(Exception):
    """The base class: one `except` distinguishes these errors from bugs."""


class RetryLater(GrowthError):
    """It may work when tried again: the network, a rate limit, a server that restarts."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
        """Seconds that the other side asked us to wait, if it said so."""


class WorldUnseen(RetryLater):
    """Not everything that a pass decides on is known."""


class DecideAgain(GrowthError):
    """The object has changed since the decision: read it again and decide again."""


class GiveUp(GrowthError):
    """Trying again doesn't help this object; others aren't affected."""


class Misconfigured(GrowthError):
    """A person has to change something. The text is one line: what, where, how to fix it."""
