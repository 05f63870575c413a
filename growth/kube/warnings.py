"""Logs warnings of the API server: deprecated versions, unknown fields, doubtful values.

The same `Warning` header comes with each answer to a request, so each text is logged once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Sequence

REMEMBERED = 1000
"""The most texts that are remembered; they contain object names, so their number isn't limited."""

_HEADER = re.compile(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"')
_log = structlog.get_logger(__name__)


class ServerWarnings:
    """Logs each warning of this process's API server once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, headers: Sequence[str]) -> None:
        """Handle the `Warning` headers of one answer."""
        for header in headers:
            for text in _HEADER.findall(header):
                self._tell_once(text)

    def _tell_once(self, text: str) -> None:
        if text in self._told or len(self._told) >= REMEMBERED:
            return
        self._told.add(text)
        _log.warning("warning from the API server", text=re.sub(r"\\(.)", r"\1", text))
