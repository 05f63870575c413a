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
class InstanceCount:
    """How many instances a cluster has, and when its agent said so."""

    instances: int | None
    at: datetime | None


UNKNOWN_COUNT: Final = InstanceCount(None, None)


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
        self._newest: dict[str, InstanceCount] = {}
        self._written: dict[str, datetime | None] = {}
        """When the newest report of a cluster was written, by its agent's clock."""
        self._unjudged: dict[str, AgentReport] = {}

    def put(self, cluster: str, report: AgentReport) -> None:
        """Keep a report. An earlier one that wasn't judged yet is superseded."""
        if self._is_late(cluster, report):
            return
        self.count(cluster, report)
        self._unjudged[cluster] = report
        self._on_report()

    def _is_late(self, cluster: str, report: AgentReport) -> bool:
        """Whether a report was written before one that has already come."""
        newest, written = self._written.get(cluster), report.written_at
        is_old = newest is not None and written is not None and written < newest
        # An agent whose clock was put back is heard again after a while.
        return is_old and self.count_of(cluster) is not UNKNOWN_COUNT

    def taken(self) -> dict[str, AgentReport]:
        """The reports that came since the last call. Each is handed out once."""
        reports, self._unjudged = self._unjudged, {}
        return reports

    def count(self, cluster: str, report: AgentReport) -> None:
        """Keep only how many instances there are: the report itself doesn't count now."""
        if not self._is_late(cluster, report):
            self._newest[cluster] = InstanceCount(report.instances, self._now())
            self._written[cluster] = report.written_at

    def count_of(self, cluster: str) -> InstanceCount:
        """How many instances a cluster has by its newest report, unless that is old."""
        newest = self._newest.get(cluster, UNKNOWN_COUNT)
        is_old = newest.at is None or self._now() - newest.at > FRESH_FOR
        return UNKNOWN_COUNT if is_old else newest

    def copied(self) -> ReportInbox:
        """Another inbox with the same reports."""
        other = ReportInbox(now=self._now)
        other._newest, other._written = dict(self._newest), dict(self._written)
        other._unjudged = dict(self._unjudged)
        return other

    def keep_only(self, clusters: Collection[str]) -> None:
        """Forget clusters that are gone."""
        self._newest = {name: it for name, it in self._newest.items() if name in clusters}
        self._written = {name: it for name, it in self._written.items() if name in clusters}
        self._unjudged = {name: it for name, it in self._unjudged.items() if name in clusters}
