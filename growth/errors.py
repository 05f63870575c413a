"""Errors by reaction: what whoever catches one is to do.

There are four reactions and so four classes; a new kind of failure joins one of them instead of
making its own. Bugs have no class here: they are ordinary exceptions and end the process, which is
started again from what the API server and the cloud say.
"""

from __future__ import annotations


class GrowthError(Exception):
    """The root, so that one `except` can tell our verdicts from bugs."""


class RetryLater(GrowthError):
    """It may work when tried again: the network, a rate limit, a server that restarts."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
        """Seconds that the other side asked us to wait, if it said so."""


class DecideAgain(GrowthError):
    """The object has changed since we decided on it: read it again and decide anew."""


class GiveUp(GrowthError):
    """This object can't be helped by trying again; the others can."""


class Misconfigured(GrowthError):
    """A person has to change something. The text is one line: what, where, how to mend it."""
