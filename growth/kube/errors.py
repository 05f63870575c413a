"""Errors of failed requests, by what the caller should do.

The API server reports what happened, with a code and a reason; a caller needs to know how to react.
The translation is here, so that no caller compares codes. Most callers catch `RetryLater`,
`DecideAgain`, `GiveUp` or `Misconfigured`; the classes below are for callers that need to
distinguish cases. They are named after what happened, without `Error`, to read well after `except`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from growth.errors import DecideAgain, GiveUp, GrowthError, Misconfigured, RetryLater
from growth.foreign_text import parse_seconds
from growth.kube.call import JSON_PATCH, Call
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Mapping


class ApiError(GrowthError):
    """A failed request. `status` is 0 if there was no answer."""

    status: int = 0
    reason: str = ""
    message: str = ""


class Unreachable(ApiError, RetryLater):
    """No answer: the connection was refused or reset, timed out, or the host is unknown."""


class Overloaded(ApiError, RetryLater):
    """The server can't answer now (429 and 5xx); `after` is its Retry-After."""


class BudgetExhausted(ApiError, RetryLater):
    """A PodDisruptionBudget doesn't allow the eviction now."""


class Expired(ApiError, RetryLater):
    """The version or page token is older than what the server keeps (410)."""


class Conflict(ApiError, DecideAgain):
    """The object has changed since we read it."""


class OwnedByOthers(ApiError, GiveUp):
    """Server-side apply without force: other managers own fields that would be changed."""

    @property
    def owners(self) -> tuple[str, ...]:
        """The names of these managers."""
        return tuple(sorted(set(_OWNER.findall(self.message))))


class AlreadyExists(ApiError, DecideAgain):
    """An object with this name exists already, from an earlier try of ours or of someone else."""


class NotFound(ApiError, GiveUp):
    """The object or its kind doesn't exist."""


class Refused(ApiError, GiveUp):
    """The server rejects the request, and would reject it again."""


class Denied(ApiError, Misconfigured):
    """The credentials are wrong (401), or a role lacks the permission (403)."""


class StatusCause(msgspec.Struct, frozen=True):
    """One entry of `Status.details.causes`."""

    reason: str = ""


class Details(msgspec.Struct, frozen=True):
    """The fields of `Status.details` that reactions depend on."""

    causes: tuple[StatusCause, ...] | None = None
    retryAfterSeconds: int = 0  # noqa: N815 - the name in the API


class Status(msgspec.Struct, frozen=True):
    """The fields of a Status object that reactions depend on."""

    code: int = 0
    reason: str | None = ""
    message: str | None = ""
    details: Details | None = None

    def has_cause(self, reason: str) -> bool:
        """Whether one of the causes has this reason."""
        return any(cause.reason == reason for cause in self.causes)

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        """All causes, in the server's order."""
        return (self.details and self.details.causes) or ()


_decoder = msgspec.json.Decoder(Status)


def status_of(body: bytes) -> Status:
    """The Status in a body; one without a code if the body is something else."""
    try:
        return _decoder.decode(body)
    except UNDECODABLE:
        # The body isn't quoted: a proxy that echoes requests would put our token into the logs.
        return Status(message="the answer is not a Kubernetes Status object")


def error_of(call: Call, *, code: int, said: Status, headers: Mapping[str, str]) -> ApiError:
    """The error for a failed request, with a text that names the request."""
    kind = _kind(call, code=code, said=said)
    message = " ".join((said.message or "").split())
    error = kind(f"{call.action}: {message or 'no reason given'} ({code}){_mend(kind, code)}")
    error.status, error.reason, error.message = code, said.reason or "", message
    if isinstance(error, RetryLater):
        error.after = _retry_after(said=said, headers=headers)
    return error


_OWNER: Final = re.compile(r'conflicts? with "([^"]+)"')
_KINDS: dict[int, type[ApiError]] = {
    404: NotFound,
    408: Overloaded,
    409: Conflict,
    410: Expired,
    429: Overloaded,
}


def _kind(call: Call, *, code: int, said: Status) -> type[ApiError]:
    match code:
        case 401 | 403:
            return _forbidden(said)
        case 409 if said.reason == "AlreadyExists":
            return AlreadyExists
        case 409 if said.has_cause("FieldManagerConflict"):
            return OwnedByOthers
        case 422 if call.content_type == JSON_PATCH and not said.causes:
            # A failed `test` operation is Invalid without causes; an invalid object has causes.
            return Conflict
        case 429 if said.has_cause("DisruptionBudget"):
            return BudgetExhausted
        case _:
            return _KINDS.get(code, Overloaded if code >= 500 else Refused)


def _forbidden(said: Status) -> type[ApiError]:
    # Creating an object in a terminating namespace is Forbidden, but permissions aren't the reason.
    return Refused if said.has_cause("NamespaceTerminating") else Denied


def _mend(kind: type[ApiError], code: int) -> str:
    if kind is not Denied:
        return ""
    if code == 401:
        return "; sign in again, or check the token or certificate of this user"
    return "; give this user a role with that verb and resource"


def _retry_after(*, said: Status, headers: Mapping[str, str]) -> float | None:
    value = headers.get("Retry-After", "")
    # The API server sends seconds. HTTP also allows a date, which only a proxy would send.
    try:
        return parse_seconds(value)
    except ValueError:
        pass
    seconds = said.details.retryAfterSeconds if said.details else 0
    return float(seconds) or None
