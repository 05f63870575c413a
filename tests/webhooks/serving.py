"""The door on loopback in this process, and what a client gets from it."""

from __future__ import annotations

import io
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from prometheus_client import CollectorRegistry

from growth.service.address import Address
from growth.service.web_server import listen, place_of
from webhooks.desk import Desk
from webhooks.door import AdmissionDoor, open_door
from webhooks.metrics import AdmissionMetrics
from webhooks.registration.names import PATH

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable

    from webhooks.pools import AdmissionPools


@dataclass(frozen=True)
class Served:
    """A door that is open, and a client before it."""

    place: str
    session: aiohttp.ClientSession
    registry: CollectorRegistry

    @property
    def url(self) -> str:
        """Where reviews are posted."""
        return f"http://{self.place}{PATH}"

    async def post(self, body: bytes | AsyncIterator[bytes]) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        data = io.BytesIO(body) if isinstance(body, bytes) else body
        async with self.session.post(self.url, data=data) as answer:
            return answer.status, await answer.read()

    def count(self, outcome: str) -> float:
        """How many reviews ended so."""
        found = self.registry.get_sample_value(
            "growth_admission_reviews_total", {"outcome": outcome}
        )
        assert found is not None
        return found


@asynccontextmanager
async def served(
    pools: Callable[[], AdmissionPools | None], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Served]:
    """The door with these pools, until the block ends."""
    registry = CollectorRegistry()
    metrics = AdmissionMetrics(registry)
    desk = Desk(pools, own_namespace="growth-system", metrics=metrics)
    listening = listen(Address(host="127.0.0.1", port=0), setting="--webhook-address")
    async with (
        open_door(AdmissionDoor(desk, metrics=metrics), listening, tls=tls),
        aiohttp.ClientSession() as session,
    ):
        yield Served(place_of(listening), session, registry)
