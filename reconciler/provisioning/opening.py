"""When a Ready node opens, and what it waits for until then.

A node without growth's start-up taint gets pods at once. Before, storage drivers may have to
register, the other machines of its plan may still be booting, the control plane may not have let
go of them, and seats may have to be held. Each of these waits has an end. What a node waited for
last, and for how long, is remembered and measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.keeping.marks import is_unregistered
from reconciler.facts.nodes import node_of
from reconciler.provisioning.holding import must_wait
from reconciler.provisioning.ledger import NodeOpening, OpeningWait
from reconciler.provisioning.together import AT_MOST, together_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.provisioning.look import ProvisioningLook

DRIVERS_WAIT: Final = 60.0
"""Seconds after Ready that a node waits for storage drivers."""


def missing_drivers(node: Node, world: World) -> Iterator[str]:
    """Storage drivers that keep pods off the node until they register, and haven't yet."""
    known = world.cluster.csi_nodes.get(node.name)
    there = {each.name for each in known.drivers} if known is not None else set()
    for name, driver in sorted(world.cluster.csi_drivers.items()):
        # Only these drivers would hold pods up: for any other one that is missing the scheduler
        # assumes that volumes can be attached.
        if driver.spec.prevent_pod_scheduling_if_missing and name not in there:
            yield name


def waits_for_drivers(request: NodeRequest, look: ProvisioningLook) -> bool:
    """Whether it isn't too late yet for a missing driver."""
    return look.now.monotonic < _ready_at(request, look) + DRIVERS_WAIT


def opens_at(request: NodeRequest, node: Node, look: ProvisioningLook) -> float:
    """When a Ready node that has its drivers has waited long enough, in monotonic seconds."""
    return max(_ends(request, node, look).values())


def remembered_openings(look: ProvisioningLook) -> Mapping[str, NodeOpening]:
    """What Ready nodes wait for, and which ones have opened, by the name of the request."""
    return dict(_openings(look))


def _openings(look: ProvisioningLook) -> Iterator[tuple[str, NodeOpening]]:
    for name, request in look.world.requests.items():
        before = look.memory.openings.get(name)
        node = node_of(request, look.world)
        if before is not None and before.opened_at is not None:
            yield name, before
        elif name not in look.memory.ready or node is None:
            continue
        elif is_unregistered(node):
            wait = _waits_for(request, node, look)
            yield name, NodeOpening(wait, ready_at=_ready_at(request, look))
        elif before is not None:
            yield name, before._replace(opened_at=look.now.monotonic)


def _waits_for(request: NodeRequest, node: Node, look: ProvisioningLook) -> OpeningWait:
    if waits_for_drivers(request, look) and any(missing_drivers(node, look.world)):
        return OpeningWait.DRIVERS
    ends = _ends(request, node, look)
    waits = (wait for wait, end in ends.items() if look.now.monotonic < end)
    # A node that opens now is said to have waited for what it waited for last.
    before = look.memory.openings.get(request.name)
    return next(waits, OpeningWait.NOTHING if before is None else before.waited_for)


def _ends(request: NodeRequest, node: Node, look: ProvisioningLook) -> Mapping[OpeningWait, float]:
    """The end of each wait, in the order in which they matter."""
    ready_at = _ready_at(request, look)
    seats_at = ready_at + AT_MOST if must_wait(request, node, look) else ready_at
    if not look.world.is_steered:
        # Without the extender, nothing steers pods to the machines that were bought for them.
        return {OpeningWait.SEATS: seats_at}
    made_at = request.metadata.creation_timestamp
    age = 0.0 if made_at is None else look.now.seconds_since(made_at)
    together = together_at(
        request,
        look.companies,
        ready_at=ready_at,
        booted=age - (look.now.monotonic - ready_at),
        longest=look.world.timing.together,
    )
    return {
        OpeningWait.MACHINES: together.others_at,
        OpeningWait.CONTROL_PLANE: together.released_at,
        OpeningWait.SEATS: seats_at,
    }


def _ready_at(request: NodeRequest, look: ProvisioningLook) -> float:
    return look.memory.ready.get(request.name, look.now.monotonic)
