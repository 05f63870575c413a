from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.kube.transport import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.transport import Connection
    from tests.live import LiveCluster


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    """The real API server."""
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        yield connection
