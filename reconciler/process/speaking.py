"""What growth says on objects as events, and on which: never on one that is no business of ours.

Autoscalers have written a thousand events on nodes that were not theirs. So each event is held
against the cache: our own kinds, nodes of our machines, and pods that wait or run on them.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import GROUP_VERSION, MANAGED_BY, MANAGED_BY_LABEL
from growth.kube.events import EventMetrics, EventRecorder, EventsOnServer, EventSource

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from growth.kube.events import ObjectReference
    from growth.kube.transport import Connection
    from reconciler.seeing.sources import ReconcilerSources

CONTROLLER: Final = "growth.dev/reconciler"


def recorder(
    connection: Connection, sources: ReconcilerSources, *, registry: CollectorRegistry
) -> EventRecorder:
    """The one voice of this process."""
    return EventRecorder(
        EventsOnServer(connection, EventSource(CONTROLLER, socket.gethostname())),
        concerns=lambda reference: concerns_us(reference, sources),
        metrics=EventMetrics(registry),
    )


def concerns_us(reference: ObjectReference, sources: ReconcilerSources) -> bool:
    """Whether we may speak of an object."""
    match reference.kind:
        case _ if reference.api_version == GROUP_VERSION:
            return True
        case "Node":
            return _is_ours(reference.name, sources)
        case "Pod":
            pod = sources.store("pods").get(reference.name, namespace=reference.namespace)
            if pod is None or reference.uid not in {"", pod.metadata.uid}:
                return False
            return not pod.spec.node_name or _is_ours(pod.spec.node_name, sources)
        case _:
            return False


def _is_ours(name: str, sources: ReconcilerSources) -> bool:
    node = sources.store("nodes").get(name)
    if node is None:
        return sources.store("NodeRequest").get(name) is not None
    return bool(node.labels.get(MANAGED_BY_LABEL) == MANAGED_BY)
