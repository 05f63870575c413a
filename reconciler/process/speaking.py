"""Writes events, but only on objects that concern growth.

Autoscalers have written thousands of events on nodes that weren't theirs. So each event is checked
against the cache: it must be on an object of our kinds, on one of our nodes, or on a pod that waits
or runs on such a node.
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
    """The recorder of this process."""
    return EventRecorder(
        EventsOnServer(connection, EventSource(CONTROLLER, socket.gethostname())),
        concerns=lambda reference: concerns_us(reference, sources),
        metrics=EventMetrics(registry),
    )


def concerns_us(reference: ObjectReference, sources: ReconcilerSources) -> bool:
    """Whether growth may write an event on an object."""
    match reference.kind:
        case _ if reference.api_version == GROUP_VERSION:
            return True
        case "Node":
            return _is_ours(reference.name, sources)
        case "Pod":
            pod = sources.store("pods").get(reference.name, namespace=reference.namespace)
            # Another pod may have got the name meanwhile, such as the next one of a StatefulSet.
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
