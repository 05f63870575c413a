"""The address of the demand stream, from the settings, and the task that reads it."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from growth.errors import Misconfigured
from growth.service.address import is_loopback
from growth.service.tls import Certificates, Files
from reconciler.seeing.demand_stream import DemandStream, FollowedStreamMetrics, StreamSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from growth.service.context import Service
    from growth.service.settings import ServiceSettings
    from reconciler.seeing.demand_stream import Listener


class DemandPlace(NamedTuple):
    """The settings of the demand stream."""

    url: str | None
    tls_folder: Path | None

    def check(self) -> None:
        """Refuse an https URL without a client certificate."""
        if self.url and urlsplit(self.url).scheme == "https" and self.tls_folder is None:
            raise Misconfigured(
                f"--demand-url: {self.url} requires a client certificate; set --demand-tls-folder"
            )


def server_url(text: str | None) -> str | None:
    """Validate the URL of a server: it has no path, and plain HTTP is allowed only on loopback."""
    if text is None:
        return None
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise ValueError("must be https://HOST:PORT, without a path")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise ValueError("must be https://HOST:PORT and nothing else")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must be https, or http on loopback")
    return f"{parts.scheme}://{parts.netloc}"


async def hear_demand(
    place: DemandPlace,
    service: Service[ServiceSettings],
    listener: Listener,
    *,
    changed: Callable[[], None],
) -> None:
    """Read the stream until cancelled; returns at once if no URL is set."""
    if place.url is None:
        return
    stream = partial(
        DemandStream,
        listener=listener,
        changed=changed,
        chance=Random(),  # noqa: S311 - it spreads tries and protects nothing
        metrics=FollowedStreamMetrics(service.registry),
    )
    if place.tls_folder is None:
        await stream(StreamSource(url=place.url)).run()
    else:
        files = Files.mutual(place.tls_folder)
        async with Certificates(service).calling("demand stream", files) as newest:
            await stream(StreamSource(url=place.url, certificates=newest)).run()
