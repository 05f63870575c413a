"""Seats that are held while a node opens: those that nothing could replace.

When a node begins to serve, kube-scheduler puts waiting pods on it in the order of its queue. The
extender can only rank nodes. So where limits leave some pods without a machine, a few small ones
can take the room of a large one, which then waits until someone raises a limit. To prevent that,
such a pod is nominated to its node just before the node opens.

The scheduler clears a nomination at the first try that fails, and it tries a pod again whenever a
node opens that could hold it. So a node with seats to hold opens when the control plane has removed
its own taints, and before the other nodes of its pool. Those wait some seconds at most. A try that
began before the scheduler saw the node open still clears the nomination. So it is written again as
long as the pod waits for this place and the node has room for it.

All this delays nodes. So it is done only for pods that need much of their machine, and for which no
other could be bought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.demand.detection import is_demand
from growth.keeping.marks import is_held_back, is_unregistered
from growth.scheduling.fits import verdict
from growth.scheduling.resources import PODS, parse_resources
from growth.scheduling.verdicts import Fits
from reconciler.core.actions import HoldSeat
from reconciler.core.step import WAIT, Step
from reconciler.facts.nodes import node_of
from reconciler.provisioning.ledger import SeatsHeld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.resources import Resources
    from reconciler.buying.offers import Purchasable
    from reconciler.provisioning.look import ProvisioningLook

MUCH: Final = 0.5
"""The share of a resource of its machine from which on a pod has its seat held. A pod that needs
less finds room on more machines, and there may be many of them."""
SOON: Final = 0.02
"""Seconds until a seat may be held again; twice as many each time."""
NEVER_HELD: Final = SeatsHeld(times=0, at=0.0)


def seats_to_hold(request: NodeRequest, look: ProvisioningLook) -> Iterator[HoldSeat]:
    """The pods to nominate to the machine of this request."""
    for pod in _irreplaceable(request, look):
        if not pod.place:
            namespace, name, uid = pod.metadata.namespace, pod.metadata.name, pod.metadata.uid
            yield HoldSeat(namespace=namespace, name=name, uid=uid, node=request.name)


def hold_again(request: NodeRequest, look: ProvisioningLook) -> Step:
    """Nominates pods anew to the node of this request, which serves."""
    seats = tuple(_lost_seats(request, look))
    if not seats:
        return WAIT
    held = look.memory.held.get(request.name, NEVER_HELD)
    due = held.at + SOON * 2**held.times
    if look.now.monotonic < due:
        return Step(wake_at=due)
    return Step(actions=seats, why="the scheduler has cleared a nomination")


def _lost_seats(request: NodeRequest, look: ProvisioningLook) -> Iterator[HoldSeat]:
    node = node_of(request, look.world)
    promised = look.promised.get(request.name, ())
    if node is None or not node.is_ready or is_unregistered(node) or not promised:
        return
    for seat in seats_to_hold(request, look):
        # A pod whose wait for this place is over is planned anew. If other pods have taken the
        # room, nothing is left to hold.
        pod = look.world.pending[seat.uid]
        if seat.uid in promised and isinstance(verdict(pod, node, look.world.cluster), Fits):
            yield seat


def holds_seats(request: NodeRequest, look: ProvisioningLook) -> bool:
    """Whether the machine of a request holds seats, or is about to."""
    return next(_irreplaceable(request, look), None) is not None


def must_wait(request: NodeRequest, node: Node, look: ProvisioningLook) -> bool:
    """Whether a Ready node opens later, because of seats on it or on others of its pool."""
    holding = look.holding.get(request.spec.pool, ())
    if all(each.name != request.name for each in holding):
        return bool(holding)
    # One after the other, because each that opens makes the scheduler try the pods of the others.
    turn = next((each.name for each in holding if _is_ready_to_open(each.name, look)), "")
    return is_held_back(node) or turn != request.name


def _is_ready_to_open(name: str, look: ProvisioningLook) -> bool:
    node = look.world.cluster.nodes.get(name)
    return node is not None and node.is_ready and is_unregistered(node) and not is_held_back(node)


def _irreplaceable(request: NodeRequest, look: ProvisioningLook) -> Iterator[Pod]:
    whole = parse_resources(request.spec.resources)
    large = [pod for pod in _pods_of(request, look) if _takes_much(pod, whole)]
    # First the cheap answer, for all of them: if its offer isn't used up, there is another one.
    if large and not any(_is_of(request, item) for item in look.buyable):
        yield from (pod for pod in large if not _can_be_bought_again(pod, look))


def _pods_of(request: NodeRequest, look: ProvisioningLook) -> Iterator[Pod]:
    """The pods that wait for this machine, also if their seats are held already."""
    places = look.world.ledger.planning.nominated.places
    # After a restart, nothing but the request tells.
    named = (pod.uid for pod in request.spec.pods if pod.uid not in places)
    for uid in dict.fromkeys((*look.promised.get(request.name, ()), *named)):
        pod = look.world.pending.get(uid)
        if pod is not None and (is_demand(pod) or pod.place == request.name):
            yield pod


def _takes_much(pod: Pod, whole: Resources) -> bool:
    return any(
        amount >= MUCH * whole[name] > 0
        for name, amount in pod.requests.amounts.items()
        if name != PODS
    )


def _is_of(request: NodeRequest, item: Purchasable) -> bool:
    wanted, offering = request.spec, item.offering
    is_same_type = offering.server_type == wanted.server_type
    is_same_pool = item.pool.name == wanted.pool
    return is_same_pool and is_same_type and offering.location == wanted.location


def _can_be_bought_again(pod: Pod, look: ProvisioningLook) -> bool:
    return any(_would_hold(item, pod, look) for item in look.buyable)


def _would_hold(item: Purchasable, pod: Pod, look: ProvisioningLook) -> bool:
    fits = item.room.covers(pod.requests)
    return fits and isinstance(verdict(pod, item.node, look.world.cluster), Fits)
