"""How eagerly nodes are given back, by the mode of the pool and by the hour.

A pool has one mode. Windows of hours may set another one for the time, and a node may be given back
at some hours only, by its annotation. An annotation that can't be read allows it at any hour, as
its author meant to allow something.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.scaling_desired import ScaleDownMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

SCALE_DOWN_ANNOTATION: Final = "autoscaler.vpsie.com/scale-down"
HOURS_ANNOTATION: Final = "autoscaler.vpsie.com/scale-down-allowed-hours"
_HOURS: Final = re.compile(r"\s*(\d{1,2}):(\d{1,2})\s*-\s*(\d{1,2}):(\d{1,2})\s*", re.ASCII)


class ScaleDownPace(msgspec.Struct, frozen=True, kw_only=True):
    """What a mode means: below which use nodes go, after how long, and how many at a time."""

    cpu: Fraction | int = 50
    memory: Fraction | int = 50
    window: float = 600.0
    at_once: int = 1
    is_delayed: bool = False
    """Whether the next node waits until the last one is gone."""
    is_allowed: bool = True


def pace_of(mode: ScaleDownMode, own: ScaleDownPace) -> ScaleDownPace:
    """The pace in a mode; `own` is what the pool itself says, which counts where it is balanced."""
    match mode:
        case ScaleDownMode.AGGRESSIVE:
            return ScaleDownPace(cpu=60, memory=60, window=300.0, at_once=own.at_once * 2)
        case ScaleDownMode.BALANCED:
            return own
        case ScaleDownMode.CONSERVATIVE:
            return ScaleDownPace(cpu=40, memory=40, window=1200.0, is_delayed=True)
        case ScaleDownMode.DISABLED:
            return ScaleDownPace(
                cpu=100, memory=100, window=86_400.0, at_once=own.at_once, is_allowed=False
            )


def is_hour_between(hour: int, start: int, end: int) -> bool:
    """Whether an hour is in [start, end), which may go over midnight."""
    if start <= end:
        return start <= hour < end
    return hour >= start or hour < end


class ModeWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A mode for some hours of some days."""

    start: int
    end: int
    days: frozenset[int]
    """Of the week, Monday is 0."""
    mode: ScaleDownMode

    def holds(self, moment: datetime) -> bool:
        """Whether the window is open."""
        return moment.weekday() in self.days and is_hour_between(moment.hour, self.start, self.end)


def mode_at(
    moment: datetime, *, default: ScaleDownMode, windows: Iterable[ModeWindow]
) -> ScaleDownMode:
    """The mode at a moment: of the first open window, or else the default."""
    return next((each.mode for each in windows if each.holds(moment)), default)


WEEKDAYS: Final = frozenset(range(5))
WEEKEND: Final = frozenset({5, 6})
BUSINESS_HOURS: Final = ModeWindow(start=9, end=17, days=WEEKDAYS, mode=ScaleDownMode.CONSERVATIVE)
OFF_HOURS: Final = ModeWindow(
    start=18, end=8, days=WEEKDAYS | WEEKEND, mode=ScaleDownMode.AGGRESSIVE
)
WHOLE_WEEKEND: Final = ModeWindow(start=0, end=24, days=WEEKEND, mode=ScaleDownMode.AGGRESSIVE)
NAMED_WINDOWS: Final = (BUSINESS_HOURS, OFF_HOURS, WHOLE_WEEKEND)


class ModePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A mode with its windows."""

    mode: ScaleDownMode
    windows: tuple[ModeWindow, ...] = ()


PRESETS: Final[Mapping[str, ModePlan]] = {
    "production": ModePlan(mode=ScaleDownMode.CONSERVATIVE, windows=(BUSINESS_HOURS,)),
    "development": ModePlan(mode=ScaleDownMode.BALANCED),
    "cost-saving": ModePlan(mode=ScaleDownMode.AGGRESSIVE, windows=(OFF_HOURS, WHOLE_WEEKEND)),
}


class AllowedHours(msgspec.Struct, frozen=True):
    """A time of the day, in minutes since midnight, as [start, end)."""

    start: int
    end: int

    def holds(self, minute: int) -> bool:
        """Whether it is this time of the day; it may go over midnight."""
        return is_hour_between(minute, self.start, self.end)


def allowed_hours(text: str) -> AllowedHours | None:
    """HH:MM-HH:MM; None if it can't be read."""
    form = _HOURS.fullmatch(text)
    if form is None:
        return None
    start_hour, start_minute, end_hour, end_minute = map(int, form.groups())
    if max(start_hour, end_hour) > 23 or max(start_minute, end_minute) > 59:
        return None
    return AllowedHours(start_hour * 60 + start_minute, end_hour * 60 + end_minute)


def lets_go_at(text: str, minute: int) -> bool:
    """Whether the annotation of a node allows that it goes at this minute of the day."""
    hours = allowed_hours(text)
    return hours is None or hours.holds(minute)


def is_let_go(annotations: Mapping[str, str], *, minute: int) -> bool:
    """Whether the annotations of a node allow that it goes now."""
    if annotations.get(SCALE_DOWN_ANNOTATION) == "disabled":
        return False
    return lets_go_at(annotations.get(HOURS_ANNOTATION, ""), minute)


def may_go(
    mode: ScaleDownMode, *, is_enabled: bool, annotations: Mapping[str, str], minute: int
) -> bool:
    """Whether the mode, the pool and the node itself allow that the node goes."""
    is_open = is_enabled and mode is not ScaleDownMode.DISABLED
    return is_open and is_let_go(annotations, minute=minute)
