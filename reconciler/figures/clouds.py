"""Metrics of listings and node classes, computed when they are scraped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prometheus_client import CollectorRegistry, Metric

    from growth.instant import Instant
    from reconciler.providers.port import ClassKey, Sight
    from reconciler.seeing.catalogues import NodeClassMarket

LABELS = ("kind", "node_class")


class CloudMetrics(Collector):
    """One series per node class. Create it once per registry."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        sights: Callable[[], Mapping[ClassKey, Sight]],
        markets: Callable[[], Mapping[ClassKey, NodeClassMarket]],
        now: Callable[[], Instant],
    ) -> None:
        self._sights = sights
        self._markets = markets
        self._now = now
        registry.register(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """The current values; nothing in a process that doesn't lead."""
        yield from self._of_sights()
        yield from self._of_markets()

    def _of_sights(self) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "growth_cloud_listing_age_seconds",
            "Age of the last complete listing of a node class's machines",
            labels=LABELS,
        )
        blind = GaugeMetricFamily(
            "growth_cloud_blind_seconds",
            "Time without a complete listing of a node class's machines; 0 if all is well",
            labels=LABELS,
        )
        now = self._now().monotonic
        for key, sight in sorted(self._sights().items()):
            if sight.listing is not None:
                age.add_metric(key, now - sight.listing.at.monotonic)
            blind.add_metric(key, 0.0 if sight.blind_since is None else now - sight.blind_since)
        yield age
        yield blind

    def _of_markets(self) -> Iterator[Metric]:
        blocked = GaugeMetricFamily(
            "growth_node_class_blocked",
            "1 if no machine can be created with a node class until a person changes something",
            labels=LABELS,
        )
        doubts = GaugeMetricFamily(
            "growth_node_class_price_doubts",
            "Prices of a provider that aren't trusted; the last good ones are used",
            labels=LABELS,
        )
        for key, market in sorted(self._markets().items()):
            if market.checked is not None:
                blocked.add_metric(key, float(market.checked.failure is not None))
                doubts.add_metric(key, float(len(market.checked.doubts)))
        yield blocked
        yield doubts
