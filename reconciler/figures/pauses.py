"""The metric `growth_paused`, computed when it is scraped."""

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
        """The paused pools."""
        found = GaugeMetricFamily(
            "growth_paused",
            "Pools that neither buy nor give back machines, by cause",
            labels=("pool", "cause"),
        )
        for pool, pause in sorted(self._paused().items()):
            found.add_metric((pool, pause.cause.value), 1)
        yield found
