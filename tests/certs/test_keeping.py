"""The task beside the loop: round after round, whatever happens, until another process leads."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, cast

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs
from typing_extensions import override

from certs import CertsMetrics, keep_certificates
from certs.tending import tend
from certs.wanted import EXTENDER, WEBHOOKS
from growth.kube.election import LeadershipLost
from tests.certs.api import NAMESPACE, Api, secret_path
from tests.certs.api import WEBHOOKS as CONFIGURATION
from tests.certs.build import leading, objects

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from structlog.types import EventDict

    from growth.kube.transport import Connection, Response

pytestmark = pytest.mark.looptime

MINUTE = 60


class Keeping:
    """A cluster, and the task that keeps its certificates."""

    def __init__(self) -> None:
        self.api = Api()
        self.api.install_webhooks()
        self.registry = CollectorRegistry()
        self.logs: list[EventDict] = []

    @contextlib.asynccontextmanager
    async def led(
        self, may_write: Callable[[], None] = leading
    ) -> AsyncIterator[asyncio.Task[None]]:
        with capture_logs() as self.logs:
            task = asyncio.create_task(
                keep_certificates(
                    cast("Connection", self.api),
                    namespace=NAMESPACE,
                    metrics=CertsMetrics(self.registry),
                    may_write=may_write,
                )
            )
            await asyncio.sleep(1)
            try:
                yield task
            finally:
                task.cancel()

    def counted(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)

    def said(self, event: str) -> list[str]:
        return [line.get("reason", "") for line in self.logs if line["event"] == event]


async def test_a_bundle_that_somebody_has_overwritten_is_back_within_a_minute() -> None:
    keeping = Keeping()
    async with keeping.led():
        trusted = keeping.api.bundle
        keeping.api.install_webhooks()
        assert keeping.api.bundle == b""

        await asyncio.sleep(MINUTE)

        assert keeping.api.bundle == trusted != b""
        assert keeping.counted("growth_certs_writes_total", write="Inject") == 2


async def test_a_problem_is_told_once_and_counted_as_long_as_it_stands() -> None:
    keeping = Keeping()
    keeping.api.read_only = {CONFIGURATION}
    async with keeping.led():
        await asyncio.sleep(10 * MINUTE)

        [told] = keeping.said("certificates need help")
        assert told.startswith("patch mutatingwebhookconfigurations growth-webhooks: ")
        assert keeping.counted("growth_certs_problems") == 1
        keeping.api.read_only = set()
        await asyncio.sleep(MINUTE)

        assert keeping.counted("growth_certs_problems") == 0


async def test_a_bug_is_counted_and_the_next_round_goes_on() -> None:
    keeping = Keeping()
    async with keeping.led() as task:
        good = keeping.api.secret(WEBHOOKS.name)
        keeping.api.objects[secret_path(WEBHOOKS.name)] = {"metadata": {}, "data": "nonsense"}
        await asyncio.sleep(3 * MINUTE)

        assert not task.done()
        assert keeping.counted("growth_certs_crashes_total") == 3
        keeping.api.put(secret_path(WEBHOOKS.name), good)
        keeping.api.remove(EXTENDER.name)
        await asyncio.sleep(MINUTE)

        assert keeping.api.secret(EXTENDER.name)
        assert keeping.counted("growth_certs_crashes_total") == 3


class Interleaved(Api):
    """An API server that answers several writers in turn."""

    @override
    async def request(self, *words: Any, **more: Any) -> Response:
        await asyncio.sleep(0)
        return await super().request(*words, **more)


async def test_two_writers_at_once_make_each_other_decide_again() -> None:
    api = Interleaved()
    api.install_webhooks()

    both = await asyncio.gather(*(tend(objects(api), may_write=leading) for _ in range(2)))

    assert [done.problems for done in both] == [(), ()]
    # Each write was done by one of them.
    assert sum(len(done.written) for done in both) == 7
    assert api.writes > 7
    assert (await tend(objects(api), may_write=leading)).written == ()


async def test_nothing_is_written_once_another_process_leads() -> None:
    keeping = Keeping()

    def lost() -> None:
        raise LeadershipLost("another one leads")

    async with keeping.led(may_write=lost) as task:
        with pytest.raises(LeadershipLost):
            await task

    assert keeping.api.writes == 0


async def test_the_ends_of_all_certificates_are_to_be_seen() -> None:
    keeping = Keeping()
    async with keeping.led():
        pass

    soonest = keeping.api.now.timestamp() + 90 * 24 * 60 * MINUTE
    for leaf in (WEBHOOKS.name, EXTENDER.name):
        assert keeping.counted("growth_certs_expiry_timestamp_seconds", secret=leaf) == soonest
