"""The answer of `growth explain`: one headline, facts by topic, and what was said on the object.

People get lines of at most 100 columns; programs get the same texts, and beside them the figures
and moments that are in them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.written import write_time
from growth.cli.cluster import trouble
from growth.cli.cluster.trouble import Trouble
from growth.cli.terminal.tables import spoken_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.cli.cluster.names import ShortNames
    from growth.keeping.wanting import Keeping

WIDTH: Final = 100
SHOWN: Final = 5
OURS: Final = "growth.dev/"
"""Whose events people are shown: what the scheduler says is a fact already. Programs get all."""
Figure = str | int | float | None


class Fact(msgspec.Struct, frozen=True):
    """One thing to know."""

    topic: str
    text: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An event on the object."""

    at: str
    reason: str
    note: str
    source: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """All that there is to say about one object."""

    kind: str
    name: str
    headline: str
    facts: tuple[Fact, ...]
    figures: Mapping[str, Figure] = {}
    """For programs."""
    events: tuple[Said, ...] = ()
    growth: Trouble | None = None
    """What is wrong with growth itself."""


def explanation_lines(story: Explanation, now: datetime, names: ShortNames) -> Iterator[str]:
    """The explanation as text."""
    yield from trouble.trouble_line(story.growth)
    yield from wrapped("", names.in_text(story.headline), indent=4)
    width = max((len(fact.topic) for fact in story.facts), default=0)
    before = ""
    for fact in story.facts:
        topic = "" if fact.topic == before else fact.topic
        yield from wrapped(f"  {topic:{width}}  ", names.in_text(fact.text), indent=width + 4)
        before = fact.topic
    ours = [event for event in story.events if event.source.startswith(OURS)]
    if ours:
        yield "events:"
    for event in ours[-SHOWN:]:
        start = f"  {_when(event.at, now)}  "
        yield from wrapped(start, names.in_text(f"{event.reason}: {event.note}"), indent=6)


def wrapped(start: str, text: str, *, indent: int) -> Iterator[str]:
    """A text in lines that fit, the first after a beginning of its own."""
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )


def _when(at: str, now: datetime) -> str:
    try:
        return ago(datetime.fromisoformat(at), now)
    except ValueError:
        return "once"


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago, in one unit."""
    if moment is None:
        return "at an unknown time"
    return f"{spoken_span(max(0, int((now - moment).total_seconds())))} ago"


def ahead(moment: datetime, now: datetime) -> str:
    """How far in the future, in one unit; what has passed is due."""
    seconds = (moment - now).total_seconds()
    return f"in {spoken_span(int(seconds))}" if seconds >= 1 else "now"


def span_since(moment: datetime | None, now: datetime) -> str:
    """How long something lasts already."""
    if moment is None:
        return "an unknown time"
    return spoken_span(max(0, int((now - moment).total_seconds())))


def keeping_facts(keeping: Keeping, now: datetime) -> Iterator[Fact]:
    """One reason, one owner, one until-when."""
    yield Fact("still here", f"{keeping.why} ({keeping.reason})")
    yield Fact("owner", keeping.owner)
    until = "unknown" if keeping.until is None else ahead(keeping.until, now)
    at = "" if keeping.until is None else f" ({write_time(keeping.until)})"
    yield Fact("until", f"{until}{at}")


def keeping_figures(keeping: Keeping) -> dict[str, Figure]:
    """The same for programs."""
    return {
        "reason": keeping.reason.value,
        "why": keeping.why,
        "owner": keeping.owner,
        "until": None if keeping.until is None else write_time(keeping.until),
    }


def counted(count: int, what: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def first_few(names: Iterable[str], *, most: int = 3) -> str:
    """The first few, and how many more there are."""
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more
