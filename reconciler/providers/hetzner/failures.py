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

from reconciler.providers.port import SCOPES, Trouble

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
    "resource_unavailable": Trouble.STOCKOUT,
    "placement_error": Trouble.STOCKOUT,
    "invalid_server_type": Trouble.STOCKOUT,
    "unsupported_error": Trouble.STOCKOUT,
    "no_space_left_in_location": Trouble.STOCKOUT,
    "uniqueness_error": Trouble.STOCKOUT,
    "maintenance": Trouble.LOCATION_DOWN,
    "resource_limit_exceeded": Trouble.QUOTA,
    "rate_limit_exceeded": Trouble.THROTTLED,
    "http_429": Trouble.THROTTLED,
    OVER_BUDGET: Trouble.THROTTLED,
    "conflict": Trouble.TRANSIENT,
    "locked": Trouble.TRANSIENT,
    "timeout": Trouble.TRANSIENT,
    "bad_gateway": Trouble.TRANSIENT,
    "server_error": Trouble.TRANSIENT,
    "service_error": Trouble.TRANSIENT,
    "unknown_error": Trouble.TRANSIENT,
    "server_already_attached": Trouble.TRANSIENT,
    "firewall_already_applied": Trouble.TRANSIENT,
    ANSWER_LOST: Trouble.TRANSIENT,
    NOT_READABLE: Trouble.TRANSIENT,
    LABEL_EDITED: Trouble.TRANSIENT,
    "invalid_input": Trouble.TEMPLATE,
    "not_found": Trouble.TEMPLATE,
    "no_subnet_available": Trouble.TEMPLATE,
    "ip_not_available": Trouble.TEMPLATE,
    "networks_overlap": Trouble.TEMPLATE,
    "private_net_only_server": Trouble.TEMPLATE,
    "protected": Trouble.TEMPLATE,
    "unauthorized": Trouble.FATAL,
    "forbidden": Trouble.FATAL,
    "token_readonly": Trouble.FATAL,
    "resource_locked": Trouble.FATAL,
    "deprecated_api_endpoint": Trouble.FATAL,
}
"""By code. A foreign server under our name is a stock-out: the next request has another name."""

EXCEPTIONS: Final = (
    ("forbidden", re.compile(r"(?i)\blimit"), Trouble.QUOTA),
    ("invalid_input", re.compile(r"(?i)unsupported location"), Trouble.STOCKOUT),
    ("invalid_input", re.compile(r"(?i)server type .*deprecated"), Trouble.STOCKOUT),
    ("resource_unavailable", re.compile(r"(?i)location .*disabled"), Trouble.LOCATION_DOWN),
    ("service_error", re.compile(r"(?i)placement group .*already contains"), Trouble.STOCKOUT),
)
"""(code, what the text says, what it means then)."""


class Subject(Enum):
    """What a call that failed was about."""

    SERVER = "server"
    GROUP = "placement group"
    READING = "reading"


NOT_SOLD: Final[Mapping[Subject, frozenset[Trouble]]] = {
    Subject.SERVER: frozenset(SCOPES),
    # A class that requires groups can buy nothing in a project that may have no more of them.
    Subject.GROUP: frozenset({Trouble.QUOTA}),
    Subject.READING: frozenset(),
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
    subject: Subject = Subject.SERVER

    @property
    def trouble(self) -> Trouble:
        """What it means."""
        trouble = classify(self.code, self.text)
        if trouble in SCOPES and trouble not in NOT_SOLD[self.subject]:
            return Trouble.TRANSIENT
        return trouble

    @property
    def is_about_groups(self) -> bool:
        """Whether a placement group was the obstacle, so that another one or none may do."""
        if self.subject is Subject.GROUP:
            return classify(self.code, self.text) in SCOPES
        return self.code == "placement_error" or "placement group" in self.text.lower()

    @property
    def reason(self) -> str:
        """For logs, events and status: what Hetzner said, and how its support finds it."""
        asked = f", correlation id {self.correlation_id}" if self.correlation_id else ""
        return f"{self.text} ({self.code}{asked})"


def classify(code: str, text: str) -> Trouble:
    """What an error means, by its code first and by its text where the code isn't enough."""
    for special, look, trouble in EXCEPTIONS:
        if code == special and look.search(text):
            return trouble
    return TROUBLES.get(code, Trouble.TRANSIENT)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text of Hetzner's on one line; whatever is a part of a secret is taken out.

    The text of a refusal may quote half a token.
    """
    known = [secret for secret in secrets if secret]

    def kept(word: re.Match[str]) -> str:
        return "[redacted]" if any(word[0] in secret for secret in known) else word[0]

    line = re.sub(r"[A-Za-z0-9_]{6,}", kept, " ".join(text.split()))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"
