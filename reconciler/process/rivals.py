"""Other programs that buy and delete nodes in this cluster, and who of two has to stand back.

Two growths with Leases in two namespaces would each buy for every pod and each collect what the
other has bought. So a new leader looks for other Leases of our name first; the growth that was
installed first stays, and the other one waits until that one is gone. The Cluster Autoscaler and
Karpenter work beside us on nodes of their own; that they do is told, as a pool and a label can only
have one owner.

A holder is alive if it has renewed its Lease between two looks: what clocks say proves nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NoReturn

import msgspec
import prometheus_client as prometheus
import structlog

from growth.api.installed import RECONCILER_LEASE
from growth.errors import GrowthError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry

    from growth.kube.transport import Connection

_log = structlog.get_logger(__name__)

OTHERS: Final = {
    "cluster-autoscaler": "Cluster Autoscaler",
    "karpenter-leader-election": "Karpenter",
}
"""Programs by the name of their Lease."""
LEASES: Final = "/apis/coordination.k8s.io/v1/leases"
LOOKS_EVERY: Final = 60.0
LONGEST_TURN: Final = 60.0
"""Seconds that a holder is given to renew its Lease, whatever that says."""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str
    uid: str
    creation_timestamp: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class RivalLease(msgspec.Struct, frozen=True):
    """A Lease, as far as it tells who acts."""

    metadata: _Metadata
    spec: _Spec = _Spec()

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def age(self) -> tuple[str, str]:
        """Orders Leases from the first that was made to the last; no two are equal."""
        return self.metadata.creation_timestamp, self.metadata.uid


class _List(msgspec.Struct, frozen=True):
    items: tuple[RivalLease, ...] = ()


def alive(before: Iterable[RivalLease], after: Iterable[RivalLease]) -> tuple[RivalLease, ...]:
    """Leases whose holder has renewed them between two looks."""
    known = {lease.metadata.uid: lease.spec.renew_time for lease in before}
    return tuple(
        lease
        for lease in after
        if lease.spec.holder_identity
        and known.get(lease.metadata.uid, lease.spec.renew_time) != lease.spec.renew_time
    )


def elder(leases: Iterable[RivalLease], *, namespace: str) -> RivalLease | None:
    """The growth that was installed before the one in this namespace, if there is one."""
    every = sorted(leases, key=lambda lease: lease.age)
    first = next((lease for lease in every if lease.metadata.name == RECONCILER_LEASE), None)
    return None if first is None or first.metadata.namespace == namespace else first


class StandBack(Exception):
    """An elder growth acts."""


class Rivals:
    """What is known of them while this process leads."""

    def __init__(
        self, connection: Connection, *, namespace: str, registry: CollectorRegistry
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._told: frozenset[str] = frozenset()
        self._problem = ""
        self._beside = prometheus.Gauge(
            "growth_other_program_acts",
            "1 if another program buys and deletes nodes in this cluster",
            ("program",),
            registry=registry,
        )

    async def stand_back(self) -> None:
        """Return when no elder growth acts in this cluster; at once if there is none."""
        while (first := await self._elder()) is not None:
            _log.warning(
                "another growth acts in this cluster, and was here first: this one waits",
                lease=first.place,
                holder=first.spec.holder_identity,
                hint="give both the same --lease-namespace, or remove one of them",
            )
            await asyncio.sleep(LOOKS_EVERY)

    async def watch(self) -> NoReturn:
        """Raise as soon as an elder growth is seen to act."""
        while True:
            await asyncio.sleep(LOOKS_EVERY)
            if (first := await self._elder()) is not None:
                raise StandBack(first.place)

    async def _elder(self) -> RivalLease | None:
        try:
            before = await self._leases()
            if not any(self._is_rival(lease) for lease in before):
                self._tell(frozenset())
                return None
            await asyncio.sleep(_turn(before))
            after = await self._leases()
        except GrowthError as error:
            # Nobody is proven to act, and a right that is missing must not stop everything.
            if str(error) != self._problem:
                _log.warning("other programs can't be looked for", error=str(error))
            self._problem = str(error)
            return None
        acting = [lease for lease in alive(before, after) if self._is_rival(lease)]
        self._tell(frozenset(OTHERS.get(each.metadata.name, "") for each in acting) - {""})
        mine = (lease for lease in after if not self._is_rival(lease))
        return elder((*acting, *mine), namespace=self._namespace)

    async def _leases(self) -> tuple[RivalLease, ...]:
        """All that are named like ours or like those of other programs."""
        found: list[RivalLease] = []
        for name in (RECONCILER_LEASE, *OTHERS):
            query = {"fieldSelector": f"metadata.name={name}"}
            answer = await self._connection.request("GET", LEASES, query=query)
            found += msgspec.json.decode(answer.body, type=_List).items
        return tuple(lease for lease in found if lease.spec.holder_identity)

    def _is_rival(self, lease: RivalLease) -> bool:
        is_growth = lease.metadata.name == RECONCILER_LEASE
        return not is_growth or lease.metadata.namespace != self._namespace

    def _tell(self, programs: frozenset[str]) -> None:
        for program in sorted(programs - self._told):
            _log.warning(
                "another program buys and deletes nodes in this cluster too",
                program=program,
                hint="keep its node groups and growth's pools apart, by labels and taints",
            )
        for program in OTHERS.values():
            self._beside.labels(program).set(program in programs)
        self._told = programs


def _turn(leases: Iterable[RivalLease]) -> float:
    """Seconds in which each holder renews its Lease if it is alive."""
    turns = (lease.spec.lease_duration_seconds or LONGEST_TURN for lease in leases)
    return min(LONGEST_TURN, max(turns))
