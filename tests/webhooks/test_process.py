"""The process: when it is ready, and how it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from growth.service.address import Address
from growth.service.web_server import listen, place_of
from tests.live import wait_until
from tests.service.authority import Authority
from tests.webhooks.reviews import posted
from tests.webhooks.serving import served
from tests.webhooks.table import TABLE
from tests.webhooks.test_cases import desk_with
from webhooks.door import AdmissionDoor, open_door
from webhooks.metrics import AdmissionMetrics
from webhooks.pools import AdmissionPools
from webhooks.registration.names import PATH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REVIEW = posted(TABLE[0].before)
AWAY = (
    "{apiVersion: v1, kind: Config, current-context: away,"
    " clusters: [{name: away, cluster: {server: 'http://127.0.0.1:1'}}],"
    " contexts: [{name: away, context: {cluster: away, user: nobody}}],"
    " users: [{name: nobody, user: {}}]}"
)


async def test_before_the_pools_are_known_reviews_are_refused_and_not_guessed_at() -> None:
    pools: list[AdmissionPools] = []

    async with served(lambda: pools[0] if pools else None) as door:
        assert await door.post(REVIEW) == (503, b"the NodePools are not known yet\n")
        pools.append(AdmissionPools())
        assert (await door.post(REVIEW))[0] == 200


@pytest.fixture
def started(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A process whose API server is away; gives what its log says."""
    (tmp_path / "kubeconfig").write_text(AWAY)
    log = tmp_path / "log"
    words = ["--kubeconfig", str(tmp_path / "kubeconfig"), "--webhook-tls-folder", str(tmp_path)]
    addresses = ["--metrics-address", "127.0.0.1:0", "--webhook-address", "127.0.0.1:0"]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-m", "webhooks", *words, *addresses], stderr=output
        ) as process,
    ):

        def said() -> dict[str, str]:
            lines = (json.loads(line) for line in log.read_text().splitlines() if line[-1:] == "}")
            return {key: value for line in lines for key, value in line.items()}

        try:
            keys = {"metrics_address", "webhook_address"}
            wait_until(lambda: keys <= said().keys(), "it listens")
            yield said()
        finally:
            process.terminate()
            assert process.wait(timeout=60) == 0


def test_it_is_ready_only_with_a_certificate_and_with_its_pools(
    started: dict[str, str], tmp_path: Path
) -> None:
    authority = Authority()

    def not_ready() -> set[str]:
        with pytest.raises(urllib.error.HTTPError) as found:
            urllib.request.urlopen(f"http://{started['metrics_address']}/readyz", timeout=60)
        with found.value as answer:
            assert answer.code == 503
            return {line.partition(":")[0] for line in answer.read().decode().splitlines()}

    assert not_ready() == {"no node pools", "no certificate of the webhook"}
    authority.leaf().write_to(tmp_path)
    wait_until(lambda: not_ready() == {"no node pools"}, "the certificate is taken")

    (tmp_path / "authority.crt").write_bytes(authority.certificate)
    tls = ssl.create_default_context(cafile=str(tmp_path / "authority.crt"))
    url = f"https://{started['webhook_address']}{PATH}"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url, data=REVIEW, timeout=20, context=tls)
    with refused.value as answer:
        assert (answer.code, answer.read()) == (503, b"the NodePools are not known yet\n")


async def test_no_caller_notices_that_it_leaves() -> None:
    """Callers go elsewhere at their next review, and everything that was posted is answered."""
    listening = listen(Address(host="127.0.0.1", port=0), setting="--webhook-address")
    url = f"http://{place_of(listening)}{PATH}"
    opened, over = asyncio.Event(), asyncio.Event()

    async def be_there() -> None:
        metrics = AdmissionMetrics(CollectorRegistry())
        async with open_door(
            AdmissionDoor(desk_with(AdmissionPools()), metrics=metrics), listening, tls=None
        ):
            opened.set()
            await over.wait()

    async def call() -> list[bool]:
        """Reviews before and after the end has begun: whether each answer was the last there."""
        last = []
        async with aiohttp.ClientSession() as session:
            for turn in range(10):
                if turn == 7:
                    over.set()
                async with session.post(url, data=REVIEW) as answer:
                    assert answer.status == 200
                    last.append(answer.headers.get("Connection") == "close")
        return last

    async with asyncio.TaskGroup() as tasks:
        leaving = tasks.create_task(be_there())
        await opened.wait()
        answers = await asyncio.gather(*(call() for _ in range(8)))
    assert leaving.done()
    assert not any(last[0] for last in answers)
    assert all(last[-1] for last in answers)
    with contextlib.suppress(OSError):
        listening.close()
