"""Removes secrets from log lines.

It works in two ways. By name: the value of a key such as `token` or `client_secret` is removed, at
any depth. By form: all texts are searched for what can only be a secret (bearer strings, tokens of
clusters and clouds, private keys), because errors of libraries quote their input. Sometimes too
much is removed; that is the smaller mistake.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from structlog.typing import EventDict, WrappedLogger

REDACTED = "[redacted]"

_WORDS = (
    "authorization",
    "apikey",
    "api_key",
    "cookie",
    "credential",
    "password",
    "passphrase",
    "private_key",
    "secret",
    "token",
)
_SECRET_KEY = re.compile(rf"(?:.*_)?(?:{'|'.join(_WORDS)})s?")
"""The last word counts: `hcloud_token` is a secret, `token_count` and `secret_name` aren't."""
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")


def _looks() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The forms of secrets, each with a lower-case text that it contains and that is fast to find.

    The first group of each expression isn't removed.
    """
    for scheme in ("bearer", "basic"):
        yield scheme, re.compile(rf"((?:\b(?i:{scheme})\s+)+)[\w.~+/=-]{{6,}}")
    for word in _WORDS:
        # The backslashes are from JSON within JSON.
        quoted = rf"""((?i:{word})\\*["']?\s*[:=]\s*\\*["'])[^"'\\]+"""
        yield word, re.compile(quoted)
        yield f"{word}=", re.compile(rf"((?i:{word})=)[^\s\"'\\&,;)]+")
    yield "://", re.compile(r"(://[^\s/:@\"']*:)[^\s/@\"']+(?=@)")
    # service account tokens, servers of k3s, bootstrap tokens, the Hetzner Cloud API, keys
    yield "eyj", re.compile(r"()\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*")
    yield "k10", re.compile(r"()\bK10[0-9a-f]{64}::[\w.:-]+")
    yield ".", re.compile(r"(?<![\w.-][a-z0-9]{6})(?<=[a-z0-9]{6})(\.)[a-z0-9]{16}(?![\w.-])")
    yield "", re.compile(r"()\b(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{64}\b")
    yield "private key", re.compile(r"(-----BEGIN [A-Z ]*KEY-----)(?s:.*?)(?=-----END|\Z)")


_LOOKS = tuple(_looks())
_PLAIN = re.compile(r"[\w-]{0,63}", re.ASCII)
"""Names and ids: most values in the log, which can't match any of these forms."""


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Remove secrets from a log event (a structlog processor)."""
    return {key: _kept(key, value) for key, value in event.items()}


def _kept(key: object, value: object) -> object:
    return REDACTED if value is not None and _names_secret(str(key)) else _without_secrets(value)


def _without_secrets(value: object) -> object:
    match value:
        case bool() | int() | float() | None:
            return value
        case Mapping():
            return {str(key): _kept(key, inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_without_secrets(inner) for inner in value]
        case _:
            # Other values are logged as text, so their text is checked.
            return _redacted(str(value))


def _redacted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    lowered = text.lower()
    for hint, look in _LOOKS:
        if hint in lowered:
            text = look.sub(rf"\1{REDACTED}", text)
    return text


@functools.lru_cache(maxsize=1024)
def _names_secret(key: str) -> bool:
    return _SECRET_KEY.fullmatch(_NEW_WORD.sub("_", key).lower()) is not None
