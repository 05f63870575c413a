"""Detects other programs that buy and delete nodes in this cluster.

Two installations of growth with Leases in two namespaces would both buy for each pod, and each
would delete what the other has bought. So a new leader first looks for other Leases with our name.
The growth that was installed first acts, and the other one waits until it is gone. The Cluster
Autoscaler and Karpenter can work in the same cluster on their own nodes. They are reported, because
a node group must have only one owner.

A holder is alive if it has renewed its Lease between two reads; clocks prove nothing.
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
"""Other programs by the name of their Lease."""
LEASES: Final = "/apis/coordination.k8s.io/v1/leases"
LOOKS_EVERY: Final = 60.0
LONGEST_TURN: Final = 60.0
"""The longest time in seconds to wait for a holder to renew its Lease."""


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
    """A Lease with its holder."""

    metadata: _Metadata
    spec: _Spec = _Spec()

    @property
    def place(self) -> str:
        """The namespace and name."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def age(self) -> tuple[str, str]:
        """A key that sorts Leases by creation; no two are equal."""
        return self.metadata.creation_timestamp, self.metadata.uid


class _List(msgspec.Struct, frozen=True):
    items: tuple[RivalLease, ...] = ()


def alive(before: Iterable[RivalLease], after: Iterable[RivalLease]) -> tuple[RivalLease, ...]:
    """The Leases that were renewed between two reads."""
    known = {lease.metadata.uid: lease.spec.renew_time for lease in before}
    return tuple(
        lease
        for lease in after
        # A holder of a Lease that isn't renewed is dead, and the clocks of two machines may differ:
        # only a renewal that is seen proves that it lives.
        if lease.spec.holder_identity
        and known.get(lease.metadata.uid, lease.spec.renew_time) != lease.spec.renew_time
    )


def elder(leases: Iterable[RivalLease], *, namespace: str) -> RivalLease | None:
    """The Lease of an older growth than that in this namespace, if there is one."""
    every = sorted(leases, key=lambda lease: lease.age)
    first = next((lease for lease in every if lease.metadata.name == RECONCILER_LEASE), None)
    return None if first is None or first.metadata.namespace == namespace else first


class StandBack(Exception):
    """An older growth acts in this cluster."""


class Rivals:
    """The other programs that are known while this process leads."""

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
        """Wait until no older growth acts in this cluster."""
        while (first := await self._elder()) is not None:
            _log.warning(
                "an older growth acts in this cluster; this one waits",
                lease=first.place,
                holder=first.spec.holder_identity,
                hint="give both the same --lease-namespace, or remove one of them",
            )
            await asyncio.sleep(LOOKS_EVERY)

    async def watch(self) -> NoReturn:
        """Raise `StandBack` as soon as an older growth acts."""
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
            # No other program is proven to act, and a missing permission must not stop everything.
            if str(error) != self._problem:
                _log.warning("could not look for other programs", error=str(error))
            self._problem = str(error)
            return None
        acting = [lease for lease in alive(before, after) if self._is_rival(lease)]
        self._tell(frozenset(OTHERS.get(each.metadata.name, "") for each in acting) - {""})
        mine = (lease for lease in after if not self._is_rival(lease))
        return elder((*acting, *mine), namespace=self._namespace)

    async def _leases(self) -> tuple[RivalLease, ...]:
        """All Leases with our name or that of another program."""
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
                hint="separate its node groups from growth's pools by labels and taints",
            )
        for program in OTHERS.values():
            self._beside.labels(program).set(program in programs)
        self._told = programs


def _turn(leases: Iterable[RivalLease]) -> float:
    """The seconds within which each live holder renews its Lease."""
    turns = (lease.spec.lease_duration_seconds or LONGEST_TURN for lease in leases)
    return min(LONGEST_TURN, max(turns))
