"""The output of `growth explain`: one headline, facts by topic, and the object's events.

For people, lines have at most 100 columns. Programs get the same texts together with the figures
and times in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.written import write_time
from growth.cli.cluster import trouble
from growth.cli.cluster.events import OURS, ObjectEvent
from growth.cli.cluster.trouble import Trouble
from growth.cli.terminal.texts import ago, ahead, wrapped
from growth.foreign_text import time_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from growth.cli.cluster.names import ShortNames
    from growth.keeping.wanting import Keeping

SHOWN: Final = 5
Figure = str | int | float | None


class Fact(msgspec.Struct, frozen=True):
    """A fact."""

    topic: str
    text: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one object."""

    kind: str
    name: str
    headline: str
    facts: tuple[Fact, ...]
    figures: Mapping[str, Figure] = {}
    """For programs."""
    events: tuple[ObjectEvent, ...] = ()
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
    # The scheduler's messages are among the facts already. Programs get all events.
    ours = [event for event in story.events if event.source.startswith(OURS)]
    if ours:
        yield "events:"
    for event in ours[-SHOWN:]:
        start = f"  {_when(event.at, now)}  "
        yield from wrapped(start, names.in_text(f"{event.reason}: {event.note}"), indent=6)


def _when(at: str, now: datetime) -> str:
    moment = time_or_none(at)
    return "once" if moment is None else ago(moment, now)


def keeping_facts(keeping: Keeping, now: datetime) -> Iterator[Fact]:
    """The reason why a node is kept, its owner, and its end."""
    yield Fact("still here", f"{keeping.why} ({keeping.reason})")
    yield Fact("owner", keeping.owner)
    until = "unknown" if keeping.until is None else ahead(keeping.until, now)
    at = "" if keeping.until is None else f" ({write_time(keeping.until)})"
    yield Fact("until", f"{until}{at}")


def keeping_figures(keeping: Keeping) -> dict[str, Figure]:
    """The same as figures for programs."""
    return {
        "reason": keeping.reason.value,
        "why": keeping.why,
        "owner": keeping.owner,
        "until": None if keeping.until is None else write_time(keeping.until),
    }
