"""Where reports wait for the next pass: the newest one of each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.clocks import wall_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from fleet.core.report import AgentReport

FRESH_FOR: Final = timedelta(minutes=5)
"""How long a count of instances is believed."""


@dataclass(frozen=True)
class ReceivedReport:
    """A report, and when it came."""

    report: AgentReport
    at: datetime


class ReportInbox:
    """Reports by the name of their cluster."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = wall_clock,
        on_report: Callable[[], None] = lambda: None,
    ) -> None:
        self._now = now
        self._on_report = on_report
        self._newest: dict[str, ReceivedReport] = {}
        self._unjudged: dict[str, AgentReport] = {}

    def put(self, cluster: str, report: AgentReport) -> None:
        """Keep a report. An earlier one that wasn't judged yet is superseded."""
        self._newest[cluster] = ReceivedReport(report, self._now())
        self._unjudged[cluster] = report
        self._on_report()

    def taken(self) -> dict[str, AgentReport]:
        """The reports that came since the last call. Each is handed out once."""
        reports, self._unjudged = self._unjudged, {}
        return reports

    def instances(self, cluster: str) -> int | None:
        """How many instances a cluster has by its newest report, unless that is old."""
        newest = self._newest.get(cluster)
        if newest is None or self._now() - newest.at > FRESH_FOR:
            return None
        return newest.report.instances

    def keep_only(self, clusters: Collection[str]) -> None:
        """Forget clusters that are gone."""
        self._newest = {name: it for name, it in self._newest.items() if name in clusters}
        self._unjudged = {name: it for name, it in self._unjudged.items() if name in clusters}
