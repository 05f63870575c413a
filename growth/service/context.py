"""What each part of a process gets: settings, a logger, a metrics registry and health checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from growth.service.settings import ServiceSettings, SettingsT

if TYPE_CHECKING:
    import socket

    from prometheus_client import CollectorRegistry
    from structlog.typing import FilteringBoundLogger

    from growth.service.health import ProcessHealth

# Covariant, so that a part that needs only the shared settings can run in any process.
SettingsT_co = TypeVar("SettingsT_co", bound=ServiceSettings, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Service(Generic[SettingsT_co]):
    """The shared objects of one process, passed to each of its parts."""

    name: str
    settings: SettingsT_co
    logger: FilteringBoundLogger
    registry: CollectorRegistry
    health: ProcessHealth
    endpoints: socket.socket | None = None
    """The listening socket of the endpoints, for a part that serves them."""


Part: TypeAlias = Callable[[Service[SettingsT]], Awaitable[None]]
"""Runs until cancelled. It registers its checks before its first await."""
Parts: TypeAlias = Mapping[str, Part[SettingsT]]
"""The parts of a process, by their name in the log."""
