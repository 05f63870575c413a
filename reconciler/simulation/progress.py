"""What is still in progress: machines that come, and machines that go."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.api.noderemovalrequest import NodeRemovalRequest, RemovalPhase
from growth.api.noderequest import NodeRequest, RequestPhase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.simulation.server import SimulatedApiServer

ON_THE_WAY: Final = frozenset({RequestPhase.PENDING, RequestPhase.PROVISIONING})


def in_progress(server: SimulatedApiServer) -> Iterator[NodeRequest | NodeRemovalRequest]:
    """Requests whose machine has not joined, and removals that have not failed."""
    requests = server.kind(NodeRequest.__name__).objects.values()
    yield from (each for each in requests if each.status.phase in ON_THE_WAY)
    removals = server.kind(NodeRemovalRequest.__name__).objects.values()
    yield from (each for each in removals if each.status.phase is not RemovalPhase.REMOVAL_FAILED)


def has_begun_within(seconds: float, server: SimulatedApiServer) -> bool:
    """Whether something is in progress that began so lately that it may well end."""
    earliest = server.wall - timedelta(seconds=seconds)
    began = (each.metadata.creation_timestamp for each in in_progress(server))
    return any(each is not None and each > earliest for each in began)
