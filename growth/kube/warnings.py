"""What the API server wants people to know: deprecated versions, unknown fields, doubtful values.

Its `Warning` headers come with every answer to the same request, so each text is told once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Sequence

REMEMBERED = 1000
"""Texts that are told apart; they name objects, so their number must have a bound."""

_HEADER = re.compile(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"')
_log = structlog.get_logger(__name__)


class ServerWarnings:
    """Logs each warning of this process's API server once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, headers: Sequence[str]) -> None:
        """Takes the `Warning` headers of one answer."""
        for header in headers:
            for text in _HEADER.findall(header):
                self._tell_once(text)

    def _tell_once(self, text: str) -> None:
        if text in self._told or len(self._told) >= REMEMBERED:
            return
        self._told.add(text)
        _log.warning("the API server warns", text=re.sub(r"\\(.)", r"\1", text))
