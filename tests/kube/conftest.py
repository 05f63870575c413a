from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from blockbuster import blockbuster_ctx

from growth.kube.transport import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from growth.kube.transport import Connection
    from tests.live import LiveCluster


@pytest.fixture(autouse=True)
def _nothing_of_ours_blocks_the_event_loop() -> Iterator[None]:
    with blockbuster_ctx("growth.kube") as guard:
        for function in guard.functions.values():
            # It runs in a thread, with an event loop that serves nothing else.
            function.can_block_in("growth/kube/kubeconfig.py", "_load")
        yield


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    """The real API server."""
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        yield connection
