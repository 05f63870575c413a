"""The maintenance window: a time of every day in which a workload may be scaled.

Its bounds are written as `HHMMSS+ZZZZ`, such as 220000+0200. Both bounds belong to the window, and
it may contain midnight.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from typing_extensions import override

from growth.api.hvpa import TIME_OF_DAY_PATTERN

if TYPE_CHECKING:
    from datetime import datetime

DAY: Final = 24 * 60 * 60


class TimeOfDay(NamedTuple):
    """A time of day in UTC."""

    seconds: int
    """Since midnight."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The time that `HHMMSS+ZZZZ` names; a ValueError if it isn't one."""
        form = re.fullmatch(TIME_OF_DAY_PATTERN, text)
        if form is None:
            raise ValueError(
                f"not a time of day: {text!r}; write it as HHMMSS+ZZZZ, as 220000+0200"
            )
        hour, minute, second, sign, away, away_minutes = form.groups()
        offset = (int(away) * 60 + int(away_minutes)) * 60
        local = (int(hour) * 60 + int(minute)) * 60 + int(second)
        return cls.wrapped(local - (offset if sign == "+" else -offset))

    @classmethod
    def wrapped(cls, seconds: int) -> Self:
        """So many seconds after some midnight."""
        return cls(seconds % DAY)

    @classmethod
    def at(cls, moment: datetime) -> Self:
        """The time of day of a moment; a begun second is that second."""
        utc = moment.astimezone(UTC)
        return cls((utc.hour * 60 + utc.minute) * 60 + utc.second)

    @property
    def written(self) -> str:
        """As in a spec."""
        return str(self).replace(":", "") + "+0000"

    @override
    def __str__(self) -> str:
        minutes, second = divmod(self.seconds, 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"


class MaintenanceWindow(NamedTuple):
    """From one time of day to another."""

    begin: TimeOfDay
    end: TimeOfDay

    @classmethod
    def parse(cls, begin: str, end: str) -> Self:
        """The window between two times; a ValueError if one of them isn't a time."""
        return cls(TimeOfDay.parse(begin), TimeOfDay.parse(end))

    @property
    def duration(self) -> int:
        """Seconds from its begin to its end."""
        return (self.end.seconds - self.begin.seconds) % DAY

    def contains(self, time: TimeOfDay) -> bool:
        """Whether a time is in the window."""
        return (time.seconds - self.begin.seconds) % DAY <= self.duration

    def next_opening(self, now: datetime) -> datetime:
        """When it opens, if it isn't open now."""
        wait = (self.begin.seconds - TimeOfDay.at(now).seconds) % DAY
        return now.replace(microsecond=0) + timedelta(seconds=wait)
