"""`growth_paused`: asked for when somebody looks, since nobody else needs it."""

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
    """One line for each paused pool. Make it once for each registry."""

    def __init__(
        self, registry: CollectorRegistry, paused: Callable[[], Mapping[str, Pause]]
    ) -> None:
        self._paused = paused
        registry.register(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """The pools that are paused now."""
        found = GaugeMetricFamily(
            "growth_paused",
            "Pools that neither buy nor give back machines, by cause",
            labels=("pool", "cause"),
        )
        for pool, pause in sorted(self._paused().items()):
            found.add_metric((pool, pause.cause.value), 1)
        yield found
