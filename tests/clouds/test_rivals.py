"""Of two growths in one cluster the first one acts; other autoscalers beside us are told."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from growth.api.installed import RECONCILER_LEASE
from growth.kube.call import MERGE_PATCH
from growth.kube.transport import connect
from reconciler.process import rivals
from reconciler.process.rivals import RivalLease, Rivals, StandBack, alive, elder
from tests.live import IN_TIME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.transport import Connection, Response
    from tests.live import LiveCluster

LOOKS: Final = 18
"""Requests of three rounds: in each, three Leases are read twice."""


def lease(
    namespace: str,
    *,
    name: str = RECONCILER_LEASE,
    made: str = "2026-01-01T00:00:00Z",
    renewed: str = "1",
    holder: str = "somebody",
) -> RivalLease:
    metadata = rivals._Metadata(
        name=name, namespace=namespace, uid=f"{namespace}/{name}", creation_timestamp=made
    )
    spec = rivals._Spec(holder_identity=holder, renew_time=renewed)
    return RivalLease(metadata=metadata, spec=spec)


FIRST, LATER = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    ("leases", "waits_for"),
    [
        ([], None),
        ([lease("mine", made=FIRST)], None),
        ([lease("mine", made=FIRST), lease("theirs", made=LATER)], None),
        ([lease("mine", made=LATER), lease("theirs", made=FIRST)], "theirs/growth-reconciler"),
        ([lease("theirs", made=FIRST)], "theirs/growth-reconciler"),
        ([lease("mine"), lease("theirs")], None),
        ([lease("mine"), lease("kube-system", name="cluster-autoscaler")], None),
    ],
)
def test_the_growth_that_was_installed_first_acts(
    leases: list[RivalLease], waits_for: str | None
) -> None:
    first = elder(leases, namespace="mine")

    assert (first.place if first is not None else None) == waits_for


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        ([lease("theirs", renewed="1")], [lease("theirs", renewed="2")], 1),
        ([lease("theirs", renewed="1")], [lease("theirs", renewed="1")], 0),
        ([lease("theirs", renewed="1")], [lease("theirs", renewed="2", holder="")], 0),
        ([lease("theirs", renewed="1")], [], 0),
        ([], [lease("theirs", renewed="1")], 0),
    ],
    ids=["renewed", "silent", "given back", "gone", "new"],
)
def test_a_holder_is_alive_that_renews_its_lease_between_two_looks(
    before: list[RivalLease], after: list[RivalLease], number: int
) -> None:
    assert len(alive(before, after)) == number


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        yield connection


class Renewing:
    """Another program that holds a Lease, and renews it before each look at Leases.

    So however slow the machine is, none of two looks misses that it is alive.
    """

    def __init__(self, connection: Connection, namespace: str, name: str) -> None:
        self._connection = connection
        self._leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name
        self._holds = False
        self.renewed = 0

    @contextlib.asynccontextmanager
    async def holding(self) -> AsyncIterator[None]:
        """For as long as the block lasts."""
        spec: dict[str, Any] = {"holderIdentity": "theirs", "leaseDurationSeconds": 1}
        made = {"metadata": {"name": self._name}, "spec": spec}
        await self._connection.request("POST", self._leases, body=made)
        self._holds = True
        yield
        self._holds = False
        await self._connection.request("DELETE", f"{self._leases}/{self._name}")

    async def request(self, method: str, path: str, **words: Any) -> Response:
        """What somebody else asks, after a renewal."""
        if self._holds:
            self.renewed += 1
            changed = {"spec": {"renewTime": f"2026-01-01T00:00:00.{self.renewed:06}Z"}}
            mine = f"{self._leases}/{self._name}"
            await self._connection.request("PATCH", mine, body=changed, content_type=MERGE_PATCH)
        return await self._connection.request(method, path, **words)


@pytest.mark.cluster
async def test_a_second_growth_waits_until_the_first_is_gone(
    connection: Connection, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "LOOKS_EVERY", 0.2)
    theirs = Renewing(connection, namespace, RECONCILER_LEASE)
    beside = cast("Connection", theirs)
    ours = Rivals(beside, namespace="not-installed-yet", registry=CollectorRegistry())
    async with theirs.holding():
        waiting = asyncio.create_task(ours.stand_back())
        async with asyncio.timeout(IN_TIME):
            while theirs.renewed < LOOKS:  # noqa: ASYNC110 - a counter has no event
                await asyncio.sleep(0.05)
        assert not waiting.done()
        with pytest.raises(StandBack, match=namespace):
            await ours.watch()
    async with asyncio.timeout(IN_TIME):
        await waiting


@pytest.mark.cluster
async def test_an_autoscaler_beside_us_is_told_and_nobody_waits(
    connection: Connection, namespace: str
) -> None:
    registry = CollectorRegistry()
    theirs = Renewing(connection, namespace, "cluster-autoscaler")
    ours = Rivals(cast("Connection", theirs), namespace=namespace, registry=registry)
    async with theirs.holding():
        with capture_logs() as logs:
            async with asyncio.timeout(IN_TIME):
                await ours.stand_back()

    assert {"program": "Cluster Autoscaler"}.items() <= logs[0].items()
    told = registry.get_sample_value("growth_other_program_acts", {"program": "Cluster Autoscaler"})
    assert told == 1
