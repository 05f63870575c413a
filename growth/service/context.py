"""What a part of a process is handed: settings, and where to log, to count, to say how it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from growth.service.settings import ServiceSettings, SettingsT

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from structlog.typing import FilteringBoundLogger

    from growth.service.health import ProcessHealth

# Covariant, so that what needs only the shared settings may run in every process.
SettingsT_co = TypeVar("SettingsT_co", bound=ServiceSettings, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Service(Generic[SettingsT_co]):
    """The shared things of one process. The same object goes to each of its parts."""

    name: str
    settings: SettingsT_co
    logger: FilteringBoundLogger
    registry: CollectorRegistry
    health: ProcessHealth


Part: TypeAlias = Callable[[Service[SettingsT]], Awaitable[None]]
"""Runs until it is cancelled. Its checks are registered before its first await."""
Parts: TypeAlias = Mapping[str, Part[SettingsT]]
"""The parts of a process, by the name that the log gives them."""
