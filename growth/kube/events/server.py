"""The requests that write events.

An Event that exists already is updated; one that the API server has deleted meanwhile is created
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import msgspec

from growth.kube.call import MERGE_PATCH
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.events.aggregation import Create, Extend, Write
from growth.kube.events.event import event_body, event_name, series

if TYPE_CHECKING:
    from datetime import datetime

    from growth.kube.events.event import Event, EventSource
    from growth.kube.transport import Connection


class Series(msgspec.Struct, frozen=True, rename="camel"):
    """The series of an Event."""

    count: int
    last_observed_time: str


class Known(msgspec.Struct, frozen=True, rename="camel"):
    """An Event in the API server."""

    event_time: str | None = None
    series: Series | None = None

    @property
    def count(self) -> int:
        """How often it was observed."""
        return self.series.count if self.series else 1

    @property
    def last_time(self) -> str | None:
        """When it was last observed."""
        return self.series.last_observed_time if self.series else self.event_time


class EventsOnServer:
    """Writes events of one source."""

    def __init__(self, connection: Connection, source: EventSource) -> None:
        self._connection = connection
        self._source = source

    async def write(self, write: Write) -> Known | None:
        """Write an event; returns the existing Event if there is one with the same content."""
        match write:
            case Create(event, count, observed):
                return await self._create(event, count=count, observed=observed)
            case Extend(event, count, _, observed):
                return await self._extend(event, count=count, observed=observed)
            case _:
                assert_never(write)

    async def _create(self, event: Event, *, count: int, observed: datetime) -> Known | None:
        body = event_body(event, source=self._source, count=count, observed=observed)
        try:
            await self._connection.request("POST", _all(event), body=body)
        except AlreadyExists:
            response = await self._connection.request("GET", _one(event))
            return msgspec.json.decode(response.body, type=Known)
        return None

    async def _extend(self, event: Event, *, count: int, observed: datetime) -> Known | None:
        body = series(count, observed)
        try:
            await self._connection.request(
                "PATCH", _one(event), body=body, content_type=MERGE_PATCH
            )
        except NotFound:
            return await self._create(event, count=count, observed=observed)
        return None


def _all(event: Event) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{event.namespace}/events"


def _one(event: Event) -> str:
    return f"{_all(event)}/{event_name(event)}"
