"""Machines that are Node objects: kwok brings them to life.

A KWOK machine is its Node, created at once; one that exists already under the name is adopted, if
it was made for the same request. How long it takes to become Ready is written on it for kwok's
stages, and follows from its name, so that the same machine always takes as long.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from growth.api.written import Duration
from growth.kube.errors import AlreadyExists, NotFound
from growth.scheduling.resources import CPU, Resources
from reconciler.providers.kwok.catalogue import offerings
from reconciler.providers.kwok.faults import is_sold_out
from reconciler.providers.port import (
    Accepted,
    Checked,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    Listing,
    Machine,
    MachineState,
    Unmet,
    UnmetScope,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.kwoknodeclass import BootDelay, KwokNodeClass
    from growth.instant import Instant
    from growth.kube.transport import Connection
    from reconciler.providers.port import CreateAnswer, Offering, Order

NODES = "/api/v1/nodes"
FAKE_NODE_ANNOTATION = "kwok.x-k8s.io/node"
READY_AFTER_ANNOTATION = "growth.dev/kwok-ready-after"
REQUEST_UID_ANNOTATION = "growth.dev/kwok-request-uid"


class KwokProvider:
    """The simulated cloud of one KwokNodeClass."""

    def __init__(
        self,
        connection: Connection,
        *,
        node_class: Callable[[], KwokNodeClass | None],
        now: Callable[[], Instant],
    ) -> None:
        self._connection = connection
        self._node_class = node_class
        self._now = now

    async def check(self) -> Checked:
        """The class holds everything itself, so nothing can be missing."""
        node_class, at = self._node_class(), self._now().monotonic
        if node_class is None:
            return Checked(at=at)
        sold = await self.offerings()
        types = {offering.server_type for offering in sold}
        return Checked(
            at=at,
            generation=node_class.metadata.generation,
            found={"types": len(types), "offers": len(sold)},
        )

    async def offerings(self) -> tuple[Offering, ...]:
        """The catalogue as the class has it now."""
        node_class = self._node_class()
        return offerings(node_class) if node_class is not None else ()

    async def create(self, order: Order) -> CreateAnswer:
        """Make the Node, or find that it was made."""
        node_class = self._node_class()
        offering = next((each for each in await self.offerings() if _is_ordered(each, order)), None)
        if node_class is None or offering is None:
            reason = f"{order.server_type} in {order.location} is not in the catalogue"
            return Failed(failure=FailureClass.TEMPLATE, reason=reason)
        if is_sold_out(offering, node_class, order):
            return Unmet(reason="sold out", scope=UnmetScope.OFFER)
        node = manifest(
            order,
            allocatable=offering.allocatable,
            ready_after=boot_time(order.name, node_class.spec.boot_delay),
        )
        try:
            await self._connection.request("POST", NODES, body=node)
        except AlreadyExists:
            return await self._adopt(order)
        return Accepted(machine_id=machine_id(order.name))

    async def _adopt(self, order: Order) -> CreateAnswer:
        node = (await self._connection.request("GET", f"{NODES}/{order.name}")).json()
        if _request_uid(node) != order.request_uid:
            reason = f"a node {order.name} exists that was made for another request"
            return Failed(failure=FailureClass.TEMPLATE, reason=reason)
        return Accepted(machine_id=machine_id(order.name))

    async def list(self) -> Listing:
        """Every Node that was made as a machine of ours."""
        at = self._now()
        query = {"labelSelector": f"{MANAGED_BY_LABEL}={MANAGED_BY}"}
        nodes = (await self._connection.request("GET", NODES, query=query)).json()["items"]
        machines = [_machine(node) for node in nodes if _request_uid(node)]
        return Listing(at=at, is_complete=True, machines={each.name: each for each in machines})

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Delete the Node."""
        try:
            await self._connection.request("DELETE", f"{NODES}/{machine.name}")
        except NotFound:
            return DeleteAnswer(outcome=DeleteOutcome.GONE)
        return DeleteAnswer(outcome=DeleteOutcome.ACCEPTED)


def manifest(order: Order, *, allocatable: Resources, ready_after: Duration) -> dict[str, Any]:
    """The Node object of a machine."""
    amounts = {
        name: f"{amount}m" if name == CPU else str(amount)
        for name, amount in allocatable.amounts.items()
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": order.name,
            "labels": dict(order.labels),
            "annotations": {
                **order.annotations,
                FAKE_NODE_ANNOTATION: "fake",
                READY_AFTER_ANNOTATION: str(ready_after),
                REQUEST_UID_ANNOTATION: order.request_uid,
            },
        },
        "spec": {
            "providerID": machine_id(order.name),
            "taints": [
                {"key": taint.key, "value": taint.value, "effect": taint.effect}
                for taint in order.taints
            ],
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def machine_id(name: str) -> str:
    """The id of a machine, which is also its node's providerID."""
    return f"kwok://{name}"


def boot_time(name: str, delay: BootDelay) -> Duration:
    """Evenly spread over the class's span, and always the same for the same machine."""
    digest = hashlib.sha256(name.encode()).digest()
    span = delay.max.nanoseconds - delay.min.nanoseconds
    return Duration(delay.min.nanoseconds + span * int.from_bytes(digest[:4], "big") // 2**32)


def _is_ordered(offering: Offering, order: Order) -> bool:
    return (
        offering.server_type == order.server_type
        and offering.location == order.location
        and dict(offering.own_labels) == dict(order.own_labels)
    )


def _request_uid(node: dict[str, Any]) -> str:
    uid: str = node["metadata"].get("annotations", {}).get(REQUEST_UID_ANNOTATION, "")
    return uid


def _machine(node: dict[str, Any]) -> Machine:
    metadata = node["metadata"]
    is_ending = "deletionTimestamp" in metadata
    return Machine(
        machine_id=machine_id(metadata["name"]),
        name=metadata["name"],
        request_uid=_request_uid(node),
        pool=metadata["labels"].get(POOL_LABEL, ""),
        state=MachineState.DELETING if is_ending else MachineState.RUNNING,
    )
