"""Texts that several commands print: counts, durations, lists of names, wrapped lines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

WIDTH: Final = 100


def counted(count: int, what: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def first_few(names: Iterable[str], *, most: int = 3) -> str:
    """The first few names, and the number of the others."""
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def wrapped(start: str, text: str, *, indent: int) -> Iterator[str]:
    """The text in lines of at most `WIDTH` columns; the first one begins with `start`."""
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )


def short_span(seconds: int) -> str:
    """A duration in one unit: 8 s, 4 m, 3 h, 2 d."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ago(moment: datetime | None, now: datetime) -> str:
    """A time in the past, in one unit."""
    if moment is None:
        return "at an unknown time"
    return f"{short_span(max(0, int((now - moment).total_seconds())))} ago"


def ahead(moment: datetime, now: datetime) -> str:
    """A time in the future, in one unit; `now` if it has passed."""
    seconds = (moment - now).total_seconds()
    return f"in {short_span(int(seconds))}" if seconds >= 1 else "now"


def span_since(moment: datetime | None, now: datetime) -> str:
    """The time since a moment, in one unit."""
    if moment is None:
        return "an unknown time"
    return short_span(max(0, int((now - moment).total_seconds())))
