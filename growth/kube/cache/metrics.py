"""Metrics of the caches of a process."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import prometheus_client as prometheus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prometheus_client import CollectorRegistry

    from growth.kube.cache.contents import Change
    from growth.kube.cache.resource import T
    from growth.kube.cache.store import Store

LAG_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class CacheMetrics:
    """The metrics of all caches, labelled by kind."""

    def __init__(self, registry: CollectorRegistry) -> None:
        kind = ("resource",)
        self.objects = prometheus.Gauge(
            "growth_cache_objects", "Objects in the cache", kind, registry=registry
        )
        self.unreadable = prometheus.Gauge(
            "growth_cache_unreadable_objects",
            "Objects that exist but can't be decoded",
            kind,
            registry=registry,
        )
        self.changes = prometheus.Counter(
            "growth_cache_changes", "Changes applied", (*kind, "change"), registry=registry
        )
        self.lists = prometheus.Counter(
            "growth_cache_lists",
            "Complete lists that were read, by cause",
            (*kind, "cause"),
            registry=registry,
        )
        self.failures = prometheus.Counter(
            "growth_cache_failures",
            "Lists and watches that ended with an error",
            (*kind, "error"),
            registry=registry,
        )
        self.lag = prometheus.Histogram(
            "growth_cache_lag_seconds",
            "Time from the answer to a write until the cache has seen it",
            kind,
            buckets=LAG_BUCKETS,
            registry=registry,
        )
        self.silence = prometheus.Gauge(
            "growth_cache_silence_seconds",
            "Time since the API server last sent anything; it sends a bookmark each minute",
            kind,
            registry=registry,
        )

    def of(self, resource: str) -> KindMetrics:
        """The metrics of one kind's cache."""
        return KindMetrics(self, resource)


class KindMetrics:
    """The metrics of one cache."""

    def __init__(self, metrics: CacheMetrics, resource: str) -> None:
        self._metrics = metrics
        self._resource = resource
        self.own_write_seen: Callable[[float], None] = metrics.lag.labels(resource).observe

    def show(self, store: Store[T], *, silence: Callable[[], float]) -> None:
        """Set the functions that are called whenever the metrics are read."""
        resource = self._resource
        self._metrics.objects.labels(resource).set_function(lambda: len(store))
        self._metrics.unreadable.labels(resource).set_function(lambda: len(store.unreadable))
        self._metrics.silence.labels(resource).set_function(silence)

    def listed(self, cause: str) -> None:
        """Count a complete list."""
        self._metrics.lists.labels(self._resource, cause).inc()

    def failed(self, error: Exception) -> None:
        """Count a list or watch that ended with an error."""
        self._metrics.failures.labels(self._resource, type(error).__name__).inc()

    def count(self, changes: Sequence[Change[T]]) -> None:
        """Count changes."""
        for kind, count in Counter(change.kind for change in changes).items():
            self._metrics.changes.labels(self._resource, kind.value).inc(count)
