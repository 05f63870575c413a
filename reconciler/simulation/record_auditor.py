"""Checks that each machine has its record, from the moment at which an object tells of it.

A request says that its machine comes only when the record is there, and no record of a living
machine is deleted. After a quiet time, each record has a machine and each machine that has a Node
has a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.noderecord import NodeRecord
from growth.api.noderequest import NodeRequest, RequestPhase

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.server import SimulatedApiServer, StoredChange

RULE: Final = "a record for each machine"


class RecordAuditor:
    """Compares records with machines."""

    def __init__(
        self,
        server: SimulatedApiServer,
        cloud: SimulatedCloud,
        *,
        breach: Callable[[str, str], None],
    ) -> None:
        self._server = server
        self._cloud = cloud
        self._breach = breach
        self._records = server.kind(NodeRecord.__name__)
        self._records.heard_by.append(self._record_changed)
        server.kind(NodeRequest.__name__).heard_by.append(self._request_changed)

    def _record_changed(self, event: StoredChange) -> None:
        name = event.key.name
        if event.new is None and name in self._cloud.machines:
            self._breach(RULE, f"the record of {name} is gone, and its machine is paid for")

    def _request_changed(self, event: StoredChange) -> None:
        request: NodeRequest | None = event.new
        if request is None or request.status.phase is not RequestPhase.PROVISIONING:
            return
        is_new = event.old is None or event.old.status.phase is not RequestPhase.PROVISIONING
        if is_new and self._records.named(request.name) is None:
            self._breach(RULE, f"{request.name} comes, and has no record")

    def judge(self) -> None:
        """Check what must hold at the end, after a long quiet time."""
        for key in self._records.objects:
            if key.name not in self._cloud.machines:
                self._breach(RULE, f"{key.name} has a record and no machine")
        for name in sorted(self._cloud.machines):
            has_node = self._server.kind("nodes").named(name) is not None
            if has_node and self._records.named(name) is None:
                self._breach(RULE, f"{name} has a node and no record")
