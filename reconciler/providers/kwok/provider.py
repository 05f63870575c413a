"""Simulated machines: Node objects that kwok keeps alive.

A KWOK machine is its Node, created at once. A Node that already has the name is adopted if it was
created for the same request. Injected faults strike here: each call checks the faults of the class
first, and those that affect a machine later are recorded on its Node.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from growth.api.kwoknodeclass import FaultKind
from growth.api.noderequest import UnmetScope
from growth.api.wellknown import INSTANCE_TYPE_LABEL, MANAGED_BY, MANAGED_BY_LABEL
from growth.api.written import Duration, ServerTypeName
from growth.errors import Misconfigured, RetryLater
from growth.kube.errors import AlreadyExists, NotFound
from reconciler.providers.kwok.catalogue import kwok_offerings, types_of
from reconciler.providers.kwok.faults import is_sold_out
from reconciler.providers.kwok.machines import (
    REGION,
    boot_time,
    failed_machine,
    machine_id,
    machine_of_node,
    never_ready,
    node_manifest,
    request_uid,
    starting,
)
from reconciler.providers.kwok.tally import FaultTally
from reconciler.providers.port import (
    Accepted,
    Checked,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    Listing,
    Unmet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from growth.api.kwoknodeclass import InjectedFault, KwokNodeClass, KwokServerType
    from growth.api.meta import KeyReference
    from growth.instant import Instant
    from growth.kube.transport import Connection
    from reconciler.providers.port import CreateAnswer, Machine, Offering, Order

__all__ = ["KwokProvider", "boot_time", "machine_id", "node_manifest"]

NODES = "/api/v1/nodes"


class _Sold(NamedTuple):
    """A catalogue, and what it was computed from."""

    node_class: KwokNodeClass | None
    types: tuple[KwokServerType, ...]
    offerings: tuple[Offering, ...]


class KwokProvider:
    """The simulated cloud of one KwokNodeClass. It caches the catalogue, so keep the object."""

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
        self._one_at_a_time = asyncio.Lock()
        self._tally = FaultTally(connection, node_class=node_class)
        self._known = _Sold(None, (), ())
        self._text = ""
        self._types: tuple[KwokServerType, ...] = ()

    async def check(self) -> Checked:
        """Check whether its catalogue can be read; one in the class itself always can."""
        node_class, at = self._node_class(), self._now().monotonic
        if node_class is None:
            return Checked(at=at)
        generation = node_class.metadata.generation
        try:
            sold = await self.offerings()
        except Misconfigured as mistake:
            return Checked(
                at=at,
                generation=generation,
                failure=FailureClass.TEMPLATE,
                problems=(str(mistake),),
            )
        types = {offering.server_type for offering in sold}
        found = {"types": len(types), "offers": len(sold)}
        return Checked(at=at, generation=generation, found=found)

    async def offerings(self) -> tuple[Offering, ...]:
        """The current catalogue, from the class or from the ConfigMap that it names."""
        node_class = self._node_class()
        if node_class is None:
            return ()
        reference = node_class.spec.catalogue_from
        types = node_class.spec.types if reference is None else await self._read(reference)
        # Every create asks for it, so it is computed only once for each state of the class.
        if node_class is not self._known.node_class or types is not self._known.types:
            self._known = _Sold(node_class, types, kwok_offerings(node_class, types))
        return self._known.offerings

    async def _read(self, reference: KeyReference) -> tuple[KwokServerType, ...]:
        named = f"ConfigMap {reference.namespace}/{reference.name}"
        path = f"/api/v1/namespaces/{reference.namespace}/configmaps/{reference.name}"
        try:
            content = (await self._connection.request("GET", path)).json()
        except NotFound:
            raise Misconfigured(f"there is no {named}: create it, with the catalogue") from None
        text = content.get("data", {}).get(reference.key)
        if text is None:
            raise Misconfigured(f"{named} has no key {reference.key}: write the catalogue there")
        if text != self._text:
            # Parsing 1,000 offers takes 0.1 s. In the event loop, that would stop everything else.
            place = f"{named}, key {reference.key}"
            self._types = await asyncio.to_thread(types_of, text, place=place)
            self._text = text
        return self._types

    async def create(self, order: Order) -> CreateAnswer:
        """Create the Node, or find it if it exists."""
        node_class = self._node_class()
        offering = next((each for each in await self.offerings() if _is_ordered(each, order)), None)
        if node_class is None or offering is None:
            reason = f"{order.server_type} in {order.location} is not in the catalogue"
            return Failed(failure=FailureClass.TEMPLATE, reason=reason)
        if node_class.spec.faults or offering.available is not None:
            # A retry of a create that succeeded must not use up another strike.
            found = await self._found(order)
            if found is not None:
                return found
        if offering.available is None:
            return await self._bought(order, offering, node_class)
        # Count and create under a lock, or two creates could both get the last machine.
        async with self._one_at_a_time:
            return await self._bought(order, offering, node_class)

    async def _bought(
        self, order: Order, offering: Offering, node_class: KwokNodeClass
    ) -> CreateAnswer:
        if await self._is_sold_out(offering, node_class, order):
            return Unmet(reason="sold out", scope=UnmetScope.OFFER)
        node = await self._ordered(order, offering, node_class)
        try:
            await self._connection.request("POST", NODES, body=node)
        except AlreadyExists:
            return await self._found(order) or Failed(
                failure=FailureClass.TRANSIENT, reason=f"node {order.name} was just deleted"
            )
        # After the Node was created: growth has to find it again.
        if await self._strikes(FaultKind.LOST_ANSWER, order):
            raise RetryLater("the answer was lost (a fault of the class)")
        return Accepted(machine_id=machine_id(order.name))

    async def _is_sold_out(
        self, offering: Offering, node_class: KwokNodeClass, order: Order
    ) -> bool:
        if is_sold_out(offering, node_class, order):
            return True
        if offering.available is not None and await self._sold(order) >= offering.available:
            return True
        return await self._strikes(FaultKind.STOCK_OUT, order) is not None

    async def _sold(self, order: Order) -> int:
        """How many other machines of this offering exist."""
        alike = {INSTANCE_TYPE_LABEL: order.server_type.canonical, REGION: order.location}
        nodes = await self._nodes(alike | dict(order.own_labels))
        return sum(node["metadata"]["name"] != order.name for node in nodes)

    async def _ordered(
        self, order: Order, offering: Offering, node_class: KwokNodeClass
    ) -> dict[str, Any]:
        """The Node to create, with the faults of the class that affect it later."""
        boot = boot_time(order.name, node_class.spec.boot_delay)
        slow = await self._strikes(FaultKind.SLOW_BOOT, order)
        if slow is not None and slow.delay is not None:
            boot = Duration(boot.nanoseconds + slow.delay.nanoseconds)
        node = node_manifest(order, allocatable=offering.allocatable, ready_after=boot)
        node = starting(node, at=self._now().wall)
        if await self._strikes(FaultKind.NEVER_READY, order):
            node = never_ready(node)
        if await self._strikes(FaultKind.FAILED_BOOT, order):
            node = failed_machine(node, reason="its boot failed (a fault of the class)")
        return node

    async def _strikes(self, kind: FaultKind, order: Order) -> InjectedFault | None:
        return await self._tally.strikes(
            kind, server_type=order.server_type, location=order.location
        )

    async def _found(self, order: Order) -> CreateAnswer | None:
        """Look for a Node of this name; adopt it if it was created for the same request."""
        try:
            node = (await self._connection.request("GET", f"{NODES}/{order.name}")).json()
        except NotFound:
            return None
        if request_uid(node) != order.request_uid:
            reason = f"node {order.name} already exists, created for another request"
            return Failed(failure=FailureClass.TEMPLATE, reason=reason)
        return Accepted(machine_id=machine_id(order.name))

    async def list(self) -> Listing:
        """Every Node that growth has created as a machine."""
        # Before the call, because what is created while it runs may be missing in the answer.
        at = self._now()
        machines = [machine_of_node(node) for node in await self._nodes({})]
        return Listing(at=at, is_complete=True, machines={each.name: each for each in machines})

    async def _nodes(self, labels: Mapping[str, str]) -> Sequence[dict[str, Any]]:
        """The machines that have these labels."""
        selected = {MANAGED_BY_LABEL: MANAGED_BY, **labels}
        query = {"labelSelector": ",".join(f"{key}={value}" for key, value in selected.items())}
        nodes = (await self._connection.request("GET", NODES, query=query)).json()["items"]
        # Anyone may label a node. Only one that was created for a request counts as a machine.
        return [node for node in nodes if request_uid(node)]

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Delete the Node."""
        path = f"{NODES}/{machine.name}"
        try:
            if await self._delete_fails(path):
                reason = "deletes fail (a fault of the class)"
                return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason)
            await self._connection.request("DELETE", path)
        except NotFound:
            return DeleteAnswer(outcome=DeleteOutcome.GONE)
        return DeleteAnswer(outcome=DeleteOutcome.ACCEPTED)

    async def _delete_fails(self, path: str) -> bool:
        node_class = self._node_class()
        faults = () if node_class is None else node_class.spec.faults
        # Without such a fault a delete is a single call.
        if all(fault.kind is not FaultKind.DELETE_FAILS for fault in faults):
            return False
        labels = (await self._connection.request("GET", path)).json()["metadata"]["labels"]
        return bool(
            await self._tally.strikes(
                FaultKind.DELETE_FAILS,
                server_type=ServerTypeName(labels.get(INSTANCE_TYPE_LABEL, "")),
                location=labels.get(REGION, ""),
            )
        )


def _is_ordered(offering: Offering, order: Order) -> bool:
    return (
        offering.server_type == order.server_type
        and offering.location == order.location
        and dict(offering.own_labels) == dict(order.own_labels)
    )
