"""Times of day and maintenance windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizing.rule.windows import MaintenanceWindow, TimeOfDay
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json


@adapts("maintenance_time", system="hvpa")
def time(given: Json) -> Json:
    if "add" in given:
        hours, minutes, seconds = given["add"]
        later = _time(given["time"]).seconds + (hours * 60 + minutes) * 60 + seconds
        return {"time": str(TimeOfDay.wrapped(later))}
    try:
        found = TimeOfDay.parse(given.get("value") or _written(given))
    except ValueError:
        return {"error": True}
    return {"error": False, "utc": str(found), "string": str(found), "formatted": found.written}


@adapts("maintenance_time_compare", system="hvpa")
def compare(given: Json) -> Json:
    one, other = _time(given["a"]), _time(given["b"])
    return {"sign": (one > other) - (one < other)}


@adapts("maintenance_window_parse", system="hvpa")
def window(given: Json) -> Json:
    try:
        MaintenanceWindow.parse(given["begin"], given["end"])
    except ValueError:
        return {"error": True}
    return {"error": False}


@adapts("maintenance_window_contains", system="hvpa")
def contains(given: Json) -> Json:
    return {"inside": _window(given).contains(_time(given["time"]))}


@adapts("maintenance_window_duration", system="hvpa")
def duration(given: Json) -> Json:
    return {"hours": _window(given).duration / 3600}


def _window(given: Json) -> MaintenanceWindow:
    return MaintenanceWindow(_time(given["begin"]), _time(given["end"]))


def _time(text: str) -> TimeOfDay:
    return TimeOfDay.parse(text.replace(":", "") + "+0000")


def _written(given: Json) -> str:
    return f"{given['hour']:02}{given['minute']:02}{given['second']:02}+0000"
