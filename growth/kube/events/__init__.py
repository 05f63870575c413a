"""Events on our own objects: what growth does to them, and why, for `kubectl events` and describe.

Written through events.k8s.io/v1, each object and reason once in five minutes at most, and never
more in a minute than a fixed budget: floods of events have filled the stores of whole clusters.
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
