"""Carries out actions at the API server. Each write names the version that it was decided on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.hvpa import Hvpa
from growth.kube.writes import Decided, Writes
from sizing.seeing.sources import HVPAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.kube.transport import Connection
    from sizing.core.actions import SizingAction
    from sizing.seeing.sources import SizingSources


class SizingHands:
    """Writes the status of Hvpas."""

    def __init__(
        self, connection: Connection, *, sources: SizingSources, may_write: Callable[[], None]
    ) -> None:
        self._may_write = may_write
        noted = sources.store(HVPAS).own
        self._hvpas = Writes(connection, path=Hvpa.collection(), noted=noted)

    async def do(self, action: SizingAction) -> None:
        """Carry out one action."""
        self._may_write()
        # A merge would keep what the new status doesn't have any more.
        whole = {"op": "add", "path": "/status", "value": action.status.document()}
        decided = Decided.on(action.hvpa)
        await self._hvpas.json_patch(decided, [whole], subresource="status")
