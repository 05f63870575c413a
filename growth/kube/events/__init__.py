"""Events on objects: what growth does and why, for `kubectl events` and `kubectl describe`.

They are written with events.k8s.io/v1, at most once in five minutes for each object and reason, and
within a fixed budget per minute: floods of events have filled the etcd of whole clusters.
"""

from growth.kube.events.budget import EventLimits
from growth.kube.events.event import Event, EventSource, ObjectReference, Severity
from growth.kube.events.metrics import EventMetrics
from growth.kube.events.recorder import EventRecorder
from growth.kube.events.server import EventsOnServer

__all__ = [
    "Event",
    "EventLimits",
    "EventMetrics",
    "EventRecorder",
    "EventSource",
    "EventsOnServer",
    "ObjectReference",
    "Severity",
]
