"""What goes wrong on demand, and how it looks to the one who asked.

A fault waits for a call that it matches and strikes a given number of times. A lost answer is the
worst of them: what was asked for is done, and nobody is told.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """How a call fails."""

    REFUSED = "refused"
    """It is answered with an error, and nothing is done."""
    LOST = "lost"
    """It is carried out, and the connection is cut before the answer."""
    SLOW = "slow"
    """It is carried out at once and answered after a moment."""
    CUT = "cut"
    """The connection is cut before anything is done."""
    GARBAGE = "garbage"
    """It is answered with something that isn't JSON, as by a proxy in between."""
    NONSENSE = "nonsense"
    """It is answered with JSON of another form."""


STATUSES = {
    "unauthorized": 401,
    "forbidden": 403,
    "token_readonly": 403,
    "not_found": 404,
    "conflict": 409,
    "uniqueness_error": 409,
    "resource_unavailable": 412,
    "locked": 423,
    "protected": 423,
    "invalid_input": 422,
    "rate_limit_exceeded": 429,
    "deprecated_api_endpoint": 410,
    "server_error": 500,
    "service_error": 500,
    "unknown_error": 500,
    "bad_gateway": 502,
    "timeout": 504,
}


def status_of(code: str) -> int:
    """The HTTP status that goes with a code."""
    return STATUSES.get(code, 422)


class Problem(Exception):
    """An error as the API tells it."""

    def __init__(self, code: str, message: str = "", details: object = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message or code.replace("_", " ")
        self.details = details


@dataclass(kw_only=True)
class Fault:
    """One thing that goes wrong, `times` times, for calls like `POST /servers`."""

    call: str
    kind: Kind = Kind.REFUSED
    code: str = "server_error"
    message: str = ""
    status: int | None = None
    times: int = 1


@dataclass
class Faults:
    """What is still to go wrong, in the order it was asked for."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> None:
        """Let something go wrong."""
        self.waiting.append(fault)

    def strikes(self, call: str) -> Fault | None:
        """The fault that this call meets, if any; it is used up."""
        fault = next((each for each in self.waiting if fnmatch.fnmatch(call, each.call)), None)
        if fault is not None:
            fault.times -= 1
            if fault.times <= 0:
                self.waiting.remove(fault)
        return fault
