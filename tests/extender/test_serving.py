"""The process while its caches are still empty: the scheduler is answered, others have to wait."""

from __future__ import annotations

import asyncio
import io
import json
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import aiohttp
import yaml

from extender.serving import serve
from extender.settings import ExtenderSettings
from growth.demand import wire
from growth.service.address import Address
from growth.service.context import Service
from growth.service.health import ProcessHealth
from growth.service.logs import start_logs
from growth.service.metrics import new_registry
from growth.service.settings import LogForm, LogLevel
from growth.service.web_server import listen
from kwok.ports import free_port
from tests.extender.build import question

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

NAME = "growth-extender"


def kubeconfig(folder: Path) -> Path:
    """Of a server that is not there."""
    named = [{"name": "gone", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}]
    contexts = [{"name": "gone", "context": {"cluster": "gone", "user": "nobody"}}]
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": named,
        "users": [{"name": "nobody", "user": {"token": "none"}}],
        "contexts": contexts,
        "current-context": "gone",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


class Process:
    """The part of the extender's process that does its work."""

    def __init__(self, service: Service[ExtenderSettings], log: io.StringIO) -> None:
        self._service = service
        self._log = log

    @property
    def missing(self) -> dict[str, str]:
        """What keeps it from being ready, by check."""
        verdicts = self._service.health.readiness()
        return {each.name: each.missing for each in verdicts if each.missing is not None}

    @property
    def places(self) -> dict[str, Any]:
        """Where it listens."""
        lines = map(json.loads, self._log.getvalue().splitlines())
        return next(line for line in lines if line["message"] == "listening")


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Process]:
    log = io.StringIO()
    endpoints = listen(Address(host="127.0.0.1", port=0), setting="--metrics-address")
    service = Service(
        name=NAME,
        settings=ExtenderSettings.model_validate(
            {
                "verbs_address": "127.0.0.1:0",
                "demand_address": "127.0.0.1:0",
                "kubeconfig": kubeconfig(folder),
            }
        ),
        logger=start_logs(process=NAME, level=LogLevel.INFO, form=LogForm.JSON, stream=log),
        registry=new_registry(NAME),
        health=ProcessHealth(clock=time.monotonic),
        endpoints=endpoints,
    )
    task = asyncio.create_task(serve(service))
    # Its checks are there after its first step.
    await asyncio.sleep(0)
    try:
        yield Process(service, log)
    finally:
        task.cancel()
        with endpoints, suppress(asyncio.CancelledError):
            await task


async def until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - health tells nobody when it changes
        await asyncio.sleep(0.01)


async def test_the_scheduler_is_answered_while_the_api_server_is_not_even_there(
    tmp_path: Path,
) -> None:
    async with (
        serving(tmp_path) as process,
        asyncio.timeout(30),
        aiohttp.ClientSession() as session,
    ):
        assert set(process.missing) == {"ports", "caches"}

        await until(lambda: "ports" not in process.missing)
        verbs, demand = process.places["verbs"], process.places["demand"]
        async with session.post(f"{verbs}/filter", data=question(["a"])) as answer:
            assert await answer.read() == b'{"NodeNames":["a"]}'
        async with session.get(f"{demand}{wire.PATH}") as answer:
            assert answer.status == 503

        await until(lambda: "no complete list of pods" in process.missing["caches"])
