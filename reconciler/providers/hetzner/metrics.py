"""Metrics about the calls to Hetzner's API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import prometheus_client as prometheus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from growth.api.meta import KeyReference
    from reconciler.providers.hetzner.rates import RateBucket

ANSWERED = "ok"


class HetznerMetrics:
    """The metrics of all projects."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = prometheus.Counter(
            "growth_hetzner_calls",
            "Calls to Hetzner's API, by outcome: ok, or the error code",
            ("call", "outcome"),
            registry=registry,
        )
        self.left = prometheus.Gauge(
            "growth_hetzner_rate_limit_remaining",
            "API calls left in the project's shared bucket, according to the last answer",
            ("secret",),
            registry=registry,
        )
        self.limit = prometheus.Gauge(
            "growth_hetzner_rate_limit",
            "Size of the project's bucket of API calls",
            ("secret",),
            registry=registry,
        )


class ProjectMetrics:
    """The metrics of one project, labeled with the Secret of its token."""

    def __init__(self, metrics: HetznerMetrics, reference: KeyReference) -> None:
        secret = f"{reference.namespace}/{reference.name}"
        self._calls = metrics.calls
        self._left = metrics.left.labels(secret)
        self._limit = metrics.limit.labels(secret)

    def called(self, method: str, path: str, *, outcome: str, standing: RateBucket) -> None:
        """Record a call that has returned."""
        self._calls.labels(f"{method} {without_ids(path)}", outcome).inc()
        self._left.set(max(0.0, standing.left))
        self._limit.set(standing.limit)


def without_ids(path: str) -> str:
    """The path without ids, so that there isn't a series for each server."""
    return re.sub(r"/\d+", "/{id}", path)
