"""A candidate as a process of its own: it leads, works, and writes down when.

Each line of the log is one piece of work: the machine's clock when it asked whether it may, who it
is, and which of its leaderships this was. The time is read before the question: a process that is
stopped between the two has asked in time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from growth.kube.election import (
    ElectionMetrics,
    Leadership,
    LeadershipLost,
    LeaseOnServer,
    Settings,
    lead,
    this_run,
)
from growth.kube.transport import connect

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = Settings(lease_duration=2, renew_deadline=1.2, retry=0.3)
LEASE = "reconciler"


def slower(times: int) -> Settings:
    """The same, for a test that isn't about how fast it goes."""
    return Settings(
        lease_duration=SETTINGS.lease_duration * times,
        renew_deadline=SETTINGS.renew_deadline * times,
        retry=SETTINGS.retry * times,
    )


def mad_wall_clock(seed: str) -> Callable[[], datetime]:
    """Hours off, another time at each look, and each process in its own way."""
    chance = Random(seed)
    return lambda: datetime.now(UTC) + timedelta(seconds=chance.uniform(-7200, 7200))


async def work(leadership: Leadership, *, name: str, session: int, log: int, crash: Path) -> None:
    while True:
        asked = time.monotonic()
        leadership.check()
        os.write(log, f"{asked:.6f} {name} {session}\n".encode())
        if crash.exists():  # noqa: ASYNC240 - a file in memory, and nothing else runs here
            raise ArithmeticError("the work has a bug")
        await asyncio.sleep(0.005)


async def live(arguments: argparse.Namespace) -> None:
    name, task = arguments.name, asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    log = os.open(arguments.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    title = f"{arguments.namespace}/{LEASE}"
    async with await connect(kubeconfig=arguments.kubeconfig, process=name) as connection:
        lease = LeaseOnServer(connection, namespace=arguments.namespace, name=LEASE)
        metrics = ElectionMetrics(CollectorRegistry())
        for session in range(1000):
            try:
                with this_run(name, lease=title) as who:
                    async with lead(
                        lease,
                        who=who,
                        settings=slower(arguments.times),
                        metrics=metrics,
                        wall=mad_wall_clock(who.text),
                    ) as leadership:
                        await work(
                            leadership,
                            name=f"{name}-{os.getpid()}",
                            session=session,
                            log=log,
                            crash=arguments.crash,
                        )
            except LeadershipLost:
                continue


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.election.candidate_process")
    parser.add_argument("--name", required=True)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--crash", type=Path, required=True, help="crash when this file exists")
    parser.add_argument("--times", type=int, default=1, help="so much slower than others")
    asyncio.run(live(parser.parse_args()))


if __name__ == "__main__":
    main()
