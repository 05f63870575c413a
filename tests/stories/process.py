"""The reconciler of all stories, as a process that can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.thread.growing import QUICKLY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Reconciler:
    """One life after the other."""

    def __init__(self, kubeconfig: Path, *, log: Path) -> None:
        self._kubeconfig = kubeconfig
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        words = ["--kubeconfig", str(self._kubeconfig), "--metrics-address", "127.0.0.1:0"]
        with self._log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "reconciler", *words),
                env={**os.environ, **QUICKLY},
                stdout=output,
                stderr=output,
            )

    async def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        assert self._process.returncode is None, self._log.read_text()[-2000:]
        self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def reconciling(kubeconfig: Path, *, log: Path) -> AsyncIterator[Reconciler]:
    """The process, from its start to its end."""
    reconciler = Reconciler(kubeconfig, log=log)
    await reconciler.start()
    try:
        yield reconciler
    finally:
        await reconciler.kill()
