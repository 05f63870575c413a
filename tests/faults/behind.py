"""The real reconciler behind a proxy that does to its sight what networks and servers do."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from tests.thread.lives import Lives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.faults.proxy import FaultProxy

SHORT_LEASE: Final = {"GROWTH_LEASE_DURATION": "4s"}
"""A proxy that still refuses can keep the Lease from being given back."""


@asynccontextmanager
async def leading_behind(
    proxy: FaultProxy, folder: Path, *, planted: str = "", **settings: str
) -> AsyncIterator[Lives]:
    """A process that sees the cluster through the proxy, as the leader.

    A mistake may be planted into it.
    """
    settings = {**SHORT_LEASE, **settings}
    lives = Lives(proxy.kubeconfig, folder=folder, planted=planted, **settings)
    async with lives.listening():
        await lives.leads()
        yield lives
