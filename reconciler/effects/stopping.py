"""After a decision that would break an invariant, nothing more is written.

The process goes on: it keeps its Lease, so that no other replica makes the same mistake, renews the
certificates of webhooks and extender, answers health checks, and serves metrics. It reports the
breach in its log, in an event, and on the Lease. Only a restart by a person ends this state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog
from prometheus_client import Counter, Gauge

from growth.api.wellknown import GROUP_VERSION, WRITING_STOPPED_ANNOTATION
from growth.errors import GiveUp
from growth.kube.events import Event, ObjectReference
from growth.kube.events.event import Severity
from reconciler.invariants.breach import Invariant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prometheus_client import CollectorRegistry

    from reconciler.invariants.breach import Breach

_log = structlog.get_logger(__name__)
LONGEST: Final = 512
"""The most characters of a breach on the Lease."""


class Stopped(GiveUp):
    """An invariant was about to be broken: nothing is written any more."""


class Stopping:
    """Whether this process has stopped writing. Make it once for each registry."""

    def __init__(self, registry: CollectorRegistry, *, say: Callable[[Event], None]) -> None:
        self.breach: Breach | None = None
        self._say = say
        self._breaches = Counter(
            "growth_invariant_breaches",
            "Decisions that would have broken an invariant and were not carried out",
            ("invariant",),
            registry=registry,
        )
        for each in Invariant:
            self._breaches.labels(each.value)
        self._stopped = Gauge(
            "growth_writing_stopped",
            "1 if growth has stopped buying, giving back and writing until a person restarts it",
            registry=registry,
        )

    def stop(self, breach: Breach) -> None:
        """Stops all writing. Only the first breach is kept, as the others may follow from it."""
        if self.breach is not None:
            return
        self.breach = breach
        self._breaches.labels(breach.invariant.value).inc()
        self._stopped.set(1)
        _log.error("writing stopped", invariant=breach.invariant.value, what=breach.text)
        if breach.pool:
            self._say(_event(breach))

    def check(self) -> None:
        """Called right before each call that writes."""
        if self.breach is not None:
            raise Stopped(f"writing has stopped: {self.breach.invariant}")

    def annotations(self) -> Mapping[str, str | None]:
        """Annotations for each renewal of the Lease, where commands and people can read them."""
        if self.breach is None:
            return {WRITING_STOPPED_ANNOTATION: None}
        text = f"{self.breach.invariant}: {self.breach.text}"
        return {WRITING_STOPPED_ANNOTATION: text[:LONGEST]}


def _event(breach: Breach) -> Event:
    return Event(
        regarding=ObjectReference(api_version=GROUP_VERSION, kind="NodePool", name=breach.pool),
        reason="WritingStopped",
        action="Judge",
        note=f"growth was about to break the invariant {breach.invariant}, and writes nothing "
        f"until its reconciler is restarted: {breach.text}",
        severity=Severity.WARNING,
    )
