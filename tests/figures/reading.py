"""What a registry tells, as a mapping from series to values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def told(registry: CollectorRegistry, name: str) -> dict[tuple[str, ...], float]:
    """The values of one metric, by the values of its labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == name
    }
