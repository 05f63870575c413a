"""What Hetzner's errors mean: one table for failed calls and for actions that fail later.

The error code decides. Where Hetzner uses one code for several problems, the text decides too. An
unknown code counts as transient: growth asks again under the same name, which never creates a
second server.
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
"""growth's own code: the connection ended before the answer, so the result isn't known."""
OVER_BUDGET: Final = "over_budget"
"""growth's own code: the call wasn't made, to leave the rest of the rate limit to others."""
NOT_READABLE: Final = "answer_not_readable"
"""growth's own code: the answer doesn't have the documented form."""
LABEL_EDITED: Final = "label_edited"
"""growth's own code: a person has changed a server's label."""
ALREADY_DONE: Final = frozenset({"server_already_attached", "firewall_already_applied"})
"""An action with one of these errors has achieved its purpose."""
ABOUT_NETWORKS: Final = frozenset({"no_subnet_available", "ip_not_available", "networks_overlap"})
"""A private network is full or misconfigured."""
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
"""By code. A taken name counts as a stock-out, because the next request has another name."""

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
"""(code, pattern in the text, what the error means then)."""


class CallSubject(Enum):
    """What a failed call was for."""

    SERVER = "server"
    GROUP = "placement group"
    READING = "reading"


NOT_SOLD: Final[Mapping[CallSubject, frozenset[ProviderTrouble]]] = {
    CallSubject.SERVER: frozenset(SCOPES),
    # A class that requires groups can't buy anything once the project's quota of them is used up.
    CallSubject.GROUP: frozenset({ProviderTrouble.QUOTA}),
    CallSubject.READING: frozenset(),
}
"""Which failures mean that something can't be bought. With others, the next try may succeed."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One error. Its text contains no secrets, so it may be shown to people."""

    code: str
    text: str
    correlation_id: str = ""
    """The id that Hetzner's support asks for."""
    seconds: float = 0.0
    """How long to wait, if the error or our own budget says so."""
    subject: CallSubject = CallSubject.SERVER

    @property
    def trouble(self) -> ProviderTrouble:
        """What the error means."""
        trouble = classify(self.code, self.text)
        if trouble in SCOPES and trouble not in NOT_SOLD[self.subject]:
            return ProviderTrouble.TRANSIENT
        return trouble

    @property
    def is_about_groups(self) -> bool:
        """Whether the placement group was the problem, so another group or none may work."""
        if self.subject is CallSubject.GROUP:
            return classify(self.code, self.text) in SCOPES
        return self.code == "placement_error" or "placement group" in self.text.lower()

    @property
    def reason(self) -> str:
        """For logs, events and status: Hetzner's text, code and correlation id."""
        asked = f", correlation id {self.correlation_id}" if self.correlation_id else ""
        return f"{self.text} ({self.code}{asked})"


def classify(code: str, text: str) -> ProviderTrouble:
    """What an error means: by its code, and by its text where the code isn't enough."""
    for special, look, trouble in EXCEPTIONS:
        if code == special and look.search(text):
            return trouble
    return TROUBLES.get(code, ProviderTrouble.TRANSIENT)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Hetzner's text on one line, with secrets redacted.

    An error may quote a part of a token, so every word that is part of a secret is removed.
    """
    known = [secret for secret in secrets if secret]

    def kept(word: re.Match[str]) -> str:
        return "[redacted]" if any(word[0] in secret for secret in known) else word[0]

    line = re.sub(r"[A-Za-z0-9_]{6,}", kept, " ".join(text.split()))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"
