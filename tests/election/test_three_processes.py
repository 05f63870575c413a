"""Three processes, one Lease, a real API server, and everything that happens to a process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import sys
import time
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import yaml

from tests.election.candidate_process import LEASE, SETTINGS
from tests.election.pausing_proxy import PausingProxy
from tests.live import ROOT, LiveCluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.cluster

Work = tuple[float, str, str]
LIMIT = SETTINGS.lease_duration + 60
"""Seconds until another one leads. That it takes no longer than the Lease lasts is tested on a
virtual clock; here other programs may need the processor."""
SLOWLY = 1000
"""Leases last so many times longer where nobody is to wait for one, nor for the next look at it."""


class Candidate:
    """One process with its own way to the API server, which can be made to hang."""

    def __init__(self, crowd: Crowd, name: str, proxy: PausingProxy) -> None:
        self.crowd, self.name, self.proxy = crowd, name, proxy
        self.process: asyncio.subprocess.Process | None = None
        self.crash = crowd.folder / f"crash-{name}"

    async def start(self) -> None:
        """Begin, and wait until it talks to the API server."""
        self.crash.unlink(missing_ok=True)
        self.proxy.used.clear()
        arguments = {
            "--name": self.name,
            "--kubeconfig": str(self.crowd.kubeconfig(self.name, self.proxy.port)),
            "--namespace": self.crowd.namespace,
            "--log": str(self.crowd.log),
            "--crash": str(self.crash),
            "--times": str(self.crowd.times),
        }
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.election.candidate_process"),
            *itertools.chain.from_iterable(arguments.items()),
            cwd=ROOT,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        await self.proxy.used.wait()

    @property
    def running(self) -> asyncio.subprocess.Process:
        assert self.process is not None
        return self.process

    @property
    def title(self) -> str:
        return f"{self.name}-{self.running.pid}"

    @property
    def has_ended(self) -> bool:
        return self.running.returncode is not None

    def signal(self, number: signal.Signals) -> float:
        self.running.send_signal(number)
        return time.monotonic()

    async def ended(self) -> str:
        """What it said when it ended."""
        _, said = await self.running.communicate()
        return said.decode()

    async def remove(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.communicate()


class Crowd:
    """The candidates and the log that they share."""

    def __init__(
        self, cluster: LiveCluster, namespace: str, folder: Path, *, times: int = 1
    ) -> None:
        self.cluster, self.namespace, self.folder = cluster, namespace, folder
        self.times = times
        self.log = folder / "log"
        self.candidates: list[Candidate] = []

    @property
    def server_port(self) -> int:
        config = yaml.safe_load(self.cluster.kubeconfig.read_text("utf-8"))
        port: int | None = urlsplit(config["clusters"][0]["cluster"]["server"]).port
        assert port is not None
        return port

    def kubeconfig(self, name: str, port: int) -> Path:
        text = self.cluster.kubeconfig.read_text("utf-8")
        path = self.folder / f"kubeconfig-{name}"
        path.write_text(text.replace(f":{self.server_port}", f":{port}"), "utf-8")
        return path

    def work(self) -> list[Work]:
        """Every piece of work that was done: when, by which process, in which leadership."""
        if not self.log.exists():
            return []
        lines = (line.split() for line in self.log.read_text("utf-8").splitlines())
        return [(float(when), title, session) for when, title, session in lines]

    def leaderships(self) -> list[tuple[float, float, str]]:
        times: dict[tuple[str, str], list[float]] = {}
        for when, title, session in self.work():
            times.setdefault((title, session), []).append(when)
        return sorted((min(all_), max(all_), title) for (title, _), all_ in times.items())

    async def leader(self) -> Candidate:
        """Whoever works now."""
        since = time.monotonic()
        title = (await self.soon(lambda: [one for one in self.work() if one[0] > since]))[0][1]
        return next(one for one in self.candidates if one.process and one.title == title)

    async def successor(self, of: Candidate, *, since: float) -> float:
        """How long it took until another one worked."""
        title = of.title
        work = await self.soon(
            lambda: [one for one in self.work() if one[0] > since and one[1] != title]
        )
        return work[0][0] - since

    async def soon(self, found: Callable[[], list[Work]]) -> list[Work]:
        async with asyncio.timeout(LIMIT * self.times):
            while not (result := found()):  # noqa: ASYNC110 - other processes do it
                await asyncio.sleep(0.02)
        return result

    def never_two_led(self) -> bool:
        led = self.leaderships()
        return all(end < start for (_, end, _), (start, _, _) in itertools.pairwise(led))


@contextlib.asynccontextmanager
async def three(
    cluster: LiveCluster, namespace: str, folder: Path, *, times: int = 1
) -> AsyncIterator[Crowd]:
    crowd = Crowd(cluster, namespace, folder, times=times)
    async with contextlib.AsyncExitStack() as stack:
        for name in "abc":
            proxy = await stack.enter_async_context(PausingProxy(crowd.server_port).serving())
            candidate = Candidate(crowd, name, proxy)
            crowd.candidates.append(candidate)
            stack.push_async_callback(candidate.remove)
        await asyncio.gather(*(one.start() for one in crowd.candidates))
        yield crowd


def install_the_lease(cluster: LiveCluster, namespace: str) -> None:
    metadata = {"name": LEASE}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
    cluster.create(lease, namespace=namespace)


async def a_freeze(crowd: Crowd) -> None:
    leader = await crowd.leader()
    frozen = leader.signal(signal.SIGSTOP)
    before = {(title, session) for _, title, session in crowd.work()}
    assert await crowd.successor(leader, since=frozen) < LIMIT
    await asyncio.sleep(max(2 * SETTINGS.lease_duration - (time.monotonic() - frozen), 0))
    thawed = leader.signal(signal.SIGCONT)
    await asyncio.sleep(0.5)
    # It may lead anew, if the others are late.
    assert not [one for one in crowd.work() if one[0] > thawed and one[1:] in before]


async def a_hanging_api_server(crowd: Crowd) -> None:
    leader = await crowd.leader()
    leader.proxy.open.clear()
    hung = time.monotonic()
    assert await crowd.successor(leader, since=hung) < LIMIT
    leader.proxy.open.set()


async def a_kill(crowd: Crowd) -> None:
    leader = await crowd.leader()
    killed = leader.signal(signal.SIGKILL)
    assert await crowd.successor(leader, since=killed) < LIMIT
    await leader.ended()


async def a_clean_stop(crowd: Crowd) -> None:
    leader = await crowd.leader()
    stopped = leader.signal(signal.SIGTERM)
    await crowd.successor(leader, since=stopped)
    await leader.ended()


async def a_crash_of_the_work(crowd: Crowd) -> None:
    leader = await crowd.leader()
    leader.crash.touch()
    crashed = time.monotonic()
    await crowd.successor(leader, since=crashed)
    assert "the work has a bug" in await leader.ended()
    assert leader.running.returncode == 1


async def a_kill_and_a_restart_of_the_last(crowd: Crowd) -> None:
    """The next run of a process that is proven dead need not wait for its own Lease."""
    leader = await crowd.leader()
    leader.signal(signal.SIGKILL)
    await leader.ended()
    await asyncio.gather(*(one.start() for one in crowd.candidates if one.has_ended))
    assert await crowd.leader() is leader


HAPPENINGS = (a_freeze, a_hanging_api_server, a_kill, a_clean_stop, a_crash_of_the_work)


async def test_a_bad_day_of_three_candidates(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    install_the_lease(cluster, namespace)
    async with three(cluster, namespace, tmp_path) as crowd:
        await a_freeze(crowd)
        await a_hanging_api_server(crowd)
        await a_kill(crowd)
        await a_clean_stop(crowd)
    assert len(crowd.leaderships()) >= 5
    assert crowd.never_two_led()


async def test_nobody_waits_for_the_lease_of_a_leader_that_is_known_to_be_gone(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    install_the_lease(cluster, namespace)
    async with three(cluster, namespace, tmp_path, times=SLOWLY) as crowd:
        for leaves in (a_clean_stop, a_crash_of_the_work):
            began = time.monotonic()
            await leaves(crowd)
            assert time.monotonic() - began < SLOWLY * SETTINGS.retry / 2
        # Two begin anew beside it, and for them the Lease lasts longer than this test.
        await a_kill_and_a_restart_of_the_last(crowd)
    assert len(crowd.leaderships()) == 4
    assert crowd.never_two_led()


@pytest.mark.long
async def test_meddling_with_the_lease_makes_no_second_leader(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    async with three(cluster, namespace, tmp_path, times=5) as crowd:
        leader = await crowd.leader()
        for _ in range(3):
            cluster.kubectl("delete", "lease", LEASE, "-n", namespace)
            await asyncio.sleep(0.3)
        erased = '{"spec":{"holderIdentity":""}}'
        cluster.kubectl("patch", "lease", LEASE, "-n", namespace, "--type=merge", "-p", erased)
        await asyncio.sleep(5 * SETTINGS.lease_duration + 0.5)
        assert await crowd.leader() is leader
    assert len(crowd.leaderships()) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
async def test_bad_weeks_of_three_candidates(
    cluster: LiveCluster, namespace: str, tmp_path: Path, seed: int
) -> None:
    chance = Random(seed)
    async with three(cluster, namespace, tmp_path) as crowd:
        for _ in range(25):
            await chance.choice(HAPPENINGS)(crowd)
            await asyncio.gather(*(one.start() for one in crowd.candidates if one.has_ended))
    assert crowd.never_two_led()
