"""What Hetzner's errors mean: one table for refused calls and for actions that fail later.

The code decides, and only where Hetzner has used one code for several things does the text. What
nobody has seen before counts as transient: it is asked for again under the same name, which makes
no second server.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.providers.port import SCOPES, ProviderTrouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ANSWER_LOST: Final = "answer_lost"
"""Our own: the connection ended before the answer, so nobody knows what was done."""
OVER_BUDGET: Final = "over_budget"
"""Our own: the call was not made, as others need what is left of the limit."""
NOT_READABLE: Final = "answer_not_readable"
"""Our own: the answer has another form than documented."""
LABEL_EDITED: Final = "label_edited"
"""Our own: a server's label isn't as growth wrote it."""
ALREADY_DONE: Final = frozenset({"server_already_attached", "firewall_already_applied"})
"""An action that failed with one of these has reached what it was for."""
ABOUT_NETWORKS: Final = frozenset({"no_subnet_available", "ip_not_available", "networks_overlap"})
"""A private network is full, or isn't as it must be."""
LONGEST_REASON = 300

TROUBLES: Final = {
    "resource_unavailable": ProviderTrouble.STOCKOUT,
    "placement_error": ProviderTrouble.STOCKOUT,
    "invalid_server_type": ProviderTrouble.STOCKOUT,
    "unsupported_error": ProviderTrouble.STOCKOUT,
    "no_space_left_in_location": ProviderTrouble.STOCKOUT,
    "uniqueness_error": ProviderTrouble.STOCKOUT,
    "maintenance": ProviderTrouble.LOCATION_DOWN,
    "resource_limit_exceeded": ProviderTrouble.QUOTA,
    "rate_limit_exceeded": ProviderTrouble.THROTTLED,
    "http_429": ProviderTrouble.THROTTLED,
    OVER_BUDGET: ProviderTrouble.THROTTLED,
    "conflict": ProviderTrouble.TRANSIENT,
    "locked": ProviderTrouble.TRANSIENT,
    "timeout": ProviderTrouble.TRANSIENT,
    "bad_gateway": ProviderTrouble.TRANSIENT,
    "server_error": ProviderTrouble.TRANSIENT,
    "service_error": ProviderTrouble.TRANSIENT,
    "unknown_error": ProviderTrouble.TRANSIENT,
    "server_already_attached": ProviderTrouble.TRANSIENT,
    "firewall_already_applied": ProviderTrouble.TRANSIENT,
    ANSWER_LOST: ProviderTrouble.TRANSIENT,
    NOT_READABLE: ProviderTrouble.TRANSIENT,
    LABEL_EDITED: ProviderTrouble.TRANSIENT,
    "invalid_input": ProviderTrouble.TEMPLATE,
    "not_found": ProviderTrouble.TEMPLATE,
    "no_subnet_available": ProviderTrouble.TEMPLATE,
    "ip_not_available": ProviderTrouble.TEMPLATE,
    "networks_overlap": ProviderTrouble.TEMPLATE,
    "private_net_only_server": ProviderTrouble.TEMPLATE,
    "protected": ProviderTrouble.TEMPLATE,
    "unauthorized": ProviderTrouble.FATAL,
    "forbidden": ProviderTrouble.FATAL,
    "token_readonly": ProviderTrouble.FATAL,
    "resource_locked": ProviderTrouble.FATAL,
    "deprecated_api_endpoint": ProviderTrouble.FATAL,
}
"""By code. A foreign server under our name is a stock-out: the next request has another name."""

EXCEPTIONS: Final = (
    ("forbidden", re.compile(r"(?i)\blimit"), ProviderTrouble.QUOTA),
    ("invalid_input", re.compile(r"(?i)unsupported location"), ProviderTrouble.STOCKOUT),
    ("invalid_input", re.compile(r"(?i)server type .*deprecated"), ProviderTrouble.STOCKOUT),
    ("resource_unavailable", re.compile(r"(?i)location .*disabled"), ProviderTrouble.LOCATION_DOWN),
    (
        "service_error",
        re.compile(r"(?i)placement group .*already contains"),
        ProviderTrouble.STOCKOUT,
    ),
)
"""(code, what the text says, what it means then)."""


class CallSubject(Enum):
    """What a call that failed was about."""

    SERVER = "server"
    GROUP = "placement group"
    READING = "reading"


NOT_SOLD: Final[Mapping[CallSubject, frozenset[ProviderTrouble]]] = {
    CallSubject.SERVER: frozenset(SCOPES),
    # A class that requires groups can buy nothing in a project that may have no more of them.
    CallSubject.GROUP: frozenset({ProviderTrouble.QUOTA}),
    CallSubject.READING: frozenset(),
}
"""Which failures tell that something can't be bought; any other call may work in a moment."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One error, as it may be told to people: its text holds no secret."""

    code: str
    text: str
    correlation_id: str = ""
    """What Hetzner's support asks for."""
    seconds: float = 0.0
    """How long to wait, where the error or our own budget says so."""
    subject: CallSubject = CallSubject.SERVER

    @property
    def trouble(self) -> ProviderTrouble:
        """What it means."""
        trouble = classify(self.code, self.text)
        if trouble in SCOPES and trouble not in NOT_SOLD[self.subject]:
            return ProviderTrouble.TRANSIENT
        return trouble

    @property
    def is_about_groups(self) -> bool:
        """Whether a placement group was the obstacle, so that another one or none may do."""
        if self.subject is CallSubject.GROUP:
            return classify(self.code, self.text) in SCOPES
        return self.code == "placement_error" or "placement group" in self.text.lower()

    @property
    def reason(self) -> str:
        """For logs, events and status: what Hetzner said, and how its support finds it."""
        asked = f", correlation id {self.correlation_id}" if self.correlation_id else ""
        return f"{self.text} ({self.code}{asked})"


def classify(code: str, text: str) -> ProviderTrouble:
    """What an error means, by its code first and by its text where the code isn't enough."""
    for special, look, trouble in EXCEPTIONS:
        if code == special and look.search(text):
            return trouble
    return TROUBLES.get(code, ProviderTrouble.TRANSIENT)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text of Hetzner's on one line; whatever is a part of a secret is taken out.

    The text of a refusal may quote half a token.
    """
    known = [secret for secret in secrets if secret]

    def kept(word: re.Match[str]) -> str:
        return "[redacted]" if any(word[0] in secret for secret in known) else word[0]

    line = re.sub(r"[A-Za-z0-9_]{6,}", kept, " ".join(text.split()))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"
