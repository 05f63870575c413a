"""Services for tests: as a process makes them, but writing nowhere unless asked to."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, TextIO

from growth.service.address import Address
from growth.service.context import Service
from growth.service.health import ProcessHealth
from growth.service.logs import start_logs
from growth.service.metrics import new_registry
from growth.service.settings import LogForm, LogLevel, MetricsAddress, ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Callable


class BakerySettings(ServiceSettings):
    metrics_address: MetricsAddress = Address(host="127.0.0.1", port=0)


def a_service(
    *,
    name: str = "bakery",
    clock: Callable[[], float] = time.monotonic,
    stream: TextIO | None = None,
) -> Service[BakerySettings]:
    return Service(
        name=name,
        settings=BakerySettings(),
        logger=start_logs(
            process=name, level=LogLevel.INFO, form=LogForm.JSON, stream=stream or io.StringIO()
        ),
        registry=new_registry(name),
        health=ProcessHealth(clock=clock),
    )
