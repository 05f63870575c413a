"""What a failed request means for whoever made it.

The API server says with a code and a reason what happened; callers want to know what to do. Here
the one is turned into the other, so that no caller compares numbers. Most catch `RetryLater`,
`DecideAgain`, `GiveUp` or `Misconfigured`; the classes below tell cases apart where somebody needs
it. They are named by what happened, not `...Error`: so they read well after `except`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.errors import DecideAgain, GiveUp, GrowthError, Misconfigured, RetryLater
from growth.kube.call import JSON_PATCH, Call
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Mapping


class ApiError(GrowthError):
    """A request that had no success. `status` is 0 when there was no answer at all."""

    status: int = 0
    reason: str = ""
    message: str = ""


class Unreachable(ApiError, RetryLater):
    """No answer: refused, reset, timed out, or the name isn't known."""


class Overloaded(ApiError, RetryLater):
    """The server can't now (429 and 5xx); `after` is its Retry-After."""


class BudgetExhausted(ApiError, RetryLater):
    """An eviction that a PodDisruptionBudget forbids for now; the server itself is well."""


class Expired(ApiError, RetryLater):
    """The version or the page token is older than what the server still knows (410)."""


class Conflict(ApiError, DecideAgain):
    """Somebody wrote the object since we read it."""


class AlreadyExists(ApiError, DecideAgain):
    """Something under this name is there already: ours from an earlier try, or a stranger's."""


class NotFound(ApiError, GiveUp):
    """The object, or its whole kind, isn't there."""


class Refused(ApiError, GiveUp):
    """The server found a mistake in the request; the same request will never pass."""


class Denied(ApiError, Misconfigured):
    """We may not do this: the credentials are wrong (401) or a role lacks the verb (403)."""


class StatusCause(msgspec.Struct, frozen=True):
    """One entry of `Status.details.causes`."""

    reason: str = ""


class Details(msgspec.Struct, frozen=True):
    """`Status.details`, as far as reactions depend on it."""

    causes: tuple[StatusCause, ...] | None = None
    retryAfterSeconds: int = 0  # noqa: N815 - the name in the API


class Status(msgspec.Struct, frozen=True):
    """The API server's Status object, as far as reactions depend on it."""

    code: int = 0
    reason: str | None = ""
    message: str | None = ""
    details: Details | None = None

    def has_cause(self, reason: str) -> bool:
        """Whether the server names this among its causes."""
        return any(cause.reason == reason for cause in self.causes)

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        """Everything that the server objects to, in its order."""
        return (self.details and self.details.causes) or ()


_decoder = msgspec.json.Decoder(Status)


def status_of(body: bytes) -> Status:
    """The Status in a body; an empty one when a proxy or a half answer put something else there."""
    try:
        return _decoder.decode(body)
    except UNDECODABLE:
        # What isn't a Status isn't quoted: an echoing proxy would put our headers into our logs.
        return Status(message="the answer is not a Kubernetes Status object")


def error_of(call: Call, *, code: int, said: Status, headers: Mapping[str, str]) -> ApiError:
    """The error for one unsuccessful answer, with a text that names what was asked."""
    kind = _kind(call, code=code, said=said)
    message = " ".join((said.message or "").split())
    error = kind(f"{call.action}: {message or 'no reason given'} ({code}){_mend(kind, code)}")
    error.status, error.reason, error.message = code, said.reason or "", message
    if isinstance(error, RetryLater):
        error.after = _retry_after(said=said, headers=headers)
    return error


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
        case 422 if call.content_type == JSON_PATCH and not said.causes:
            # A failed `test` is told as Invalid with empty details; a bad object names its causes.
            return Conflict
        case 429 if said.has_cause("DisruptionBudget"):
            return BudgetExhausted
        case _:
            return _KINDS.get(code, Overloaded if code >= 500 else Refused)


def _forbidden(said: Status) -> type[ApiError]:
    # A namespace that is going away forbids creates: that is this object's end, no lack of rights.
    return Refused if said.has_cause("NamespaceTerminating") else Denied


def _mend(kind: type[ApiError], code: int) -> str:
    if kind is not Denied:
        return ""
    if code == 401:
        return "; sign in again, or check the token or certificate of this user"
    return "; give this user a role with that verb and resource"


def _retry_after(*, said: Status, headers: Mapping[str, str]) -> float | None:
    value = headers.get("Retry-After", "")
    # The API server sends seconds; a date, which HTTP allows too, would come from a proxy.
    if value.isdigit():
        return float(value)
    seconds = said.details.retryAfterSeconds if said.details else 0
    return float(seconds) or None
