"""The calls of an election on a real API server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from growth.errors import DecideAgain, Misconfigured
from growth.kube.election import LeaseOnServer
from growth.kube.transport import Connection, connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

NOW = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=cluster.kubeconfig) as opened:
        yield opened


@pytest.fixture
def lease(connection: Connection, namespace: str) -> LeaseOnServer:
    return LeaseOnServer(connection, namespace=namespace, name="reconciler")


async def test_a_lease_is_made_held_renewed_and_given_back(lease: LeaseOnServer) -> None:
    assert await lease.read() is None
    made = await lease.make(duration=15, now=NOW)
    assert not made.spec.held
    held = await lease.hold(made, holder="a", duration=15, now=NOW)
    assert held.spec.acquire_time == "2026-01-01T00:00:00.000001Z"
    renewed = await lease.hold(held, holder="a", duration=15, now=datetime.now(UTC))
    assert renewed.spec.acquire_time == held.spec.acquire_time
    assert renewed.spec.lease_transitions == 1
    released = await lease.release(renewed, now=NOW)
    assert released.spec.given_back
    assert await lease.read() == released


async def test_of_two_that_make_or_take_it_at_once_one_decides_again(lease: LeaseOnServer) -> None:
    made = await asyncio.gather(
        *(lease.make(duration=15, now=NOW) for _ in "ab"), return_exceptions=True
    )
    assert sorted(isinstance(one, DecideAgain) for one in made) == [False, True]
    seen = await lease.read()
    assert seen is not None
    taken = await asyncio.gather(
        *(lease.hold(seen, holder=name, duration=15, now=NOW) for name in "ab"),
        return_exceptions=True,
    )
    assert sorted(isinstance(one, DecideAgain) for one in taken) == [False, True]


async def test_what_others_keep_in_the_lease_stays(
    cluster: LiveCluster, lease: LeaseOnServer, namespace: str
) -> None:
    await lease.make(duration=15, now=NOW)
    cluster.kubectl("label", "lease", "reconciler", "kept=yes", "-n", namespace)
    seen = await lease.read()
    assert seen is not None
    await lease.hold(seen, holder="a", duration=15, now=NOW)
    labels = cluster.get("lease", "reconciler", "-n", namespace)["metadata"]["labels"]
    assert labels == {"kept": "yes"}


async def test_what_a_holder_says_of_itself_is_written_with_each_renewal(
    cluster: LiveCluster, connection: Connection, namespace: str
) -> None:
    says: dict[str, str | None] = {"growth.dev/writing-stopped": "a rule"}
    lease = LeaseOnServer(
        connection, namespace=namespace, name="reconciler", annotations=lambda: says
    )
    held = await lease.hold(
        await lease.make(duration=15, now=NOW), holder="a", duration=15, now=NOW
    )
    stored = cluster.get("lease", "reconciler", "-n", namespace)["metadata"]
    assert stored["annotations"] == says

    says["growth.dev/writing-stopped"] = None
    await lease.hold(held, holder="b", duration=15, now=datetime.now(UTC))
    stored = cluster.get("lease", "reconciler", "-n", namespace)["metadata"]
    assert "annotations" not in stored


async def test_a_lease_that_was_deleted_is_decided_on_again(
    cluster: LiveCluster, lease: LeaseOnServer, namespace: str
) -> None:
    seen = await lease.make(duration=15, now=NOW)
    cluster.kubectl("delete", "lease", "reconciler", "-n", namespace)
    with pytest.raises(DecideAgain, match="was deleted"):
        await lease.hold(seen, holder="a", duration=15, now=NOW)


async def test_a_lease_in_a_missing_namespace_is_a_mistake_to_mend(connection: Connection) -> None:
    lease = LeaseOnServer(connection, namespace="nowhere", name="reconciler")
    with pytest.raises(Misconfigured, match='namespace "nowhere" of the Lease doesn\'t exist'):
        await lease.make(duration=15, now=NOW)


async def test_a_release_is_heard_at_once_and_a_renewal_is_not(lease: LeaseOnServer) -> None:
    held = await lease.hold(
        await lease.make(duration=15, now=NOW), holder="a", duration=15, now=NOW
    )
    heard = asyncio.create_task(first_release(lease))
    await asyncio.sleep(0.5)
    renewed = await lease.hold(held, holder="a", duration=15, now=NOW)
    await asyncio.sleep(0.2)
    assert not heard.done()
    await lease.release(renewed, now=NOW)
    async with asyncio.timeout(60):
        await heard


async def first_release(lease: LeaseOnServer) -> None:
    async for _ in lease.releases():
        return
