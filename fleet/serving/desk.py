"""From a bearer, a cluster and a body to an answer. Nothing here waits."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fleet.core.states import REPORTING
from fleet.reports.access import refusal_of
from fleet.reports.body import report_in
from fleet.reports.readiness import agent_is_ready
from fleet.reports.refusal import ReportRefused
from growth.service.request_body import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from fleet.core.clusters import FleetCluster
    from fleet.reports.access import AgentClaims
    from fleet.reports.configuration import AgentConfiguration
    from fleet.serving.inbox import ReportInbox

_TEXTS = {
    HTTPStatus.UNAUTHORIZED: "a bearer token is needed",
    HTTPStatus.NOT_FOUND: "not found",
    HTTPStatus.BAD_REQUEST: "the cluster of this agent isn't known",
}


class ReportDesk:
    """Admits agents, and takes their reports."""

    def __init__(
        self,
        clusters: Callable[[], Mapping[str, FleetCluster] | None],
        *,
        inbox: ReportInbox,
        configuration: AgentConfiguration,
        issuers: Collection[str],
    ) -> None:
        """`clusters` returns all records by name, or None while they aren't known."""
        self._clusters = clusters
        self._inbox = inbox
        self._configuration = configuration
        self._issuers = issuers

    def admit(self, claims: AgentClaims | None, *, cluster: str) -> None:
        """Refuse whoever isn't the agent of this cluster, and agents of clusters that are gone."""
        is_known = self._found(cluster) is not None
        refusal = refusal_of(claims, cluster=cluster, issuers=self._issuers, is_known=is_known)
        if refusal is HTTPStatus.BAD_REQUEST and self._clusters() is None:
            raise RequestRefused(503, "the clusters aren't known yet")
        if refusal is not None:
            raise RequestRefused(refusal.value, _TEXTS[refusal])

    def take(self, body: bytes, *, cluster: str) -> None:
        """Keep the report of an admitted agent, if it counts now."""
        try:
            report = report_in(body)
            record = self._found(cluster)
            if record is None or record.state not in REPORTING:
                self._inbox.count(cluster, report)
                return
            # A value that can't be read is its agent's mistake, and is said before the pass.
            agent_is_ready(report.conditions)
        except ReportRefused as refused:
            raise RequestRefused(HTTPStatus.BAD_REQUEST.value, str(refused)) from None
        self._inbox.put(cluster, report)

    def configuration(self) -> AgentConfiguration:
        """What an admitted agent is told."""
        return self._configuration

    def _found(self, cluster: str) -> FleetCluster | None:
        record = (self._clusters() or {}).get(cluster)
        return None if record is None or record.is_soft_deleted else record
