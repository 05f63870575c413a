"""The metrics `growth_paused` and `growth_observing`, computed when they are scraped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prometheus_client import CollectorRegistry, Metric

    from reconciler.brakes.pauses import Pause


class PausedPools(Collector):
    """One series per paused pool. Create it once per registry."""

    def __init__(
        self, registry: CollectorRegistry, paused: Callable[[], Mapping[str, Pause]]
    ) -> None:
        self._paused = paused
        registry.register(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """The pools that growth doesn't act for."""
        found = GaugeMetricFamily(
            "growth_paused",
            "Pools that neither buy nor give back machines, by cause",
            labels=("pool", "cause"),
        )
        observing = GaugeMetricFamily(
            "growth_observing", "1 for each pool that only observes", labels=("pool",)
        )
        for pool, pause in sorted(self._paused().items()):
            if pause.is_of_mode:
                observing.add_metric((pool,), 1)
            else:
                found.add_metric((pool, pause.cause.value), 1)
        yield found
        yield observing
