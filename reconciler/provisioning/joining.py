"""A node joins: growth finds it, gives it the pool's labels and taints, and lets it serve.

Missing labels, taints and annotations are added; topology labels only if no cloud controller is
about to write them. Nothing that others wrote is changed.

The start-up taint is removed last, when the node is Ready and each storage driver that asks for it
has registered. A missing driver is waited for one minute, and then named in a condition. What else
a Ready node waits for is decided in `opening`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Condition, Truth
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    CURRENCY_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    PLAN_ANNOTATION,
    POOL_LABEL,
    PRICE_ANNOTATION,
    REPLACES_ANNOTATION,
    SERVER_ID_ANNOTATION,
    TEMPLATE_ANNOTATION,
    UNINITIALIZED_TAINT,
)
from growth.api.written import write_time
from growth.keeping.marks import is_unregistered
from reconciler.buying.offers import offer_of
from reconciler.buying.templates import UNREGISTERED, node_taints
from reconciler.core.actions import SetNode, machine, version_of
from reconciler.core.decision import NEVER
from reconciler.core.step import WAIT, Step
from reconciler.facts.node_classes import node_class_of
from reconciler.provisioning.holding import seats_to_hold
from reconciler.provisioning.opening import (
    DRIVERS_WAIT,
    missing_drivers,
    opens_at,
    waits_for_drivers,
)
from reconciler.provisioning.writing import happened, moved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.taints import Taint
    from reconciler.core.world import World
    from reconciler.provisioning.look import ProvisioningLook

DRIVERS: Final = "StorageDriversMissing"
LONGEST: Final = 1024
HANDED_ON: Final = (PLAN_ANNOTATION, REPLACES_ANNOTATION, TEMPLATE_ANNOTATION)
"""Copied from the request to the node, which outlives it."""


def step_with_node(
    request: NodeRequest, pool: NodePool, node: Node, look: ProvisioningLook, otherwise: Step = WAIT
) -> Step:
    """The next step for a node that has joined; `otherwise` if there is nothing to do."""
    # A node that was found by its providerID can have another name than the request, and is then
    # another subject.
    if not look.world.is_free(machine(node.name)):
        return otherwise
    missing = tuple(missing_drivers(node, look.world)) if node.is_ready else ()
    may_serve = node.is_ready and not (missing and waits_for_drivers(request, look))
    is_opened = may_serve and is_unregistered(node)
    due = opens_at(request, node, look) if is_opened else NEVER
    if look.now.monotonic < due < NEVER:
        may_serve, otherwise = False, Step(wake_at=min(due, otherwise.wake_at))
    # Growth believes the record, but pods and people read what is written on the Node.
    written = look.world.misread.get(node.name, node)
    labels = dict(_labels(request, pool, written, look.world))
    is_new = _is_new(request, written, look.world)
    taints = _taints(pool, node, may_serve=may_serve, is_new=is_new)
    annotations = _annotations(request, written, look.now)
    # Annotations alone are not worth a write: they go with the one that lets the node serve.
    is_told = not may_serve or not annotations
    if labels or taints != node.spec.taints or not is_told:
        change = SetNode(
            node=version_of(node),
            labels=labels,
            annotations=annotations,
            taints=None if taints == node.spec.taints else taints,
        )
        why = "the node is Ready: it may serve" if may_serve else "the node has joined"
        seats = tuple(seats_to_hold(request, look)) if may_serve and is_opened else ()
        return Step(actions=(*seats, change), why=why, wake_at=otherwise.wake_at)
    if may_serve:
        return _served(request, node, look.now, missing)
    if missing:
        return Step(wake_at=look.memory.ready[request.name] + DRIVERS_WAIT)
    return otherwise


def _served(request: NodeRequest, node: Node, now: Instant, missing: tuple[str, ...]) -> Step:
    patch = moved(
        request,
        RequestPhase.READY,
        now,
        happened=(happened("nodeProvisioned", now), happened("nodeLabelled", now)),
        said=tuple(_lacking_drivers(request, now, missing)),
        node_name=node.name,
        ready_at=now.wall,
    )
    return Step(actions=(patch,), why="the node serves")


def _labels(
    request: NodeRequest, pool: NodePool, node: Node, world: World
) -> Iterator[tuple[str, str]]:
    """Labels that the node lacks, and growth's own labels if they are wrong."""
    ours = {
        POOL_LABEL: pool.name,
        NODE_REQUEST_LABEL: request.name,
        INSTANCE_TYPE_LABEL: request.spec.server_type.canonical,
        MANAGED_BY_LABEL: MANAGED_BY,
    }
    for key, value in ours.items():
        if node.labels.get(key) != value:
            yield key, value
    for key, value in {**_offered(request, pool, node, world), **pool.spec.labels}.items():
        if key not in node.labels:
            yield key, value


def _offered(request: NodeRequest, pool: NodePool, node: Node, world: World) -> Mapping[str, str]:
    """Labels of the offer; none while a cloud controller is about to write them."""
    # A label that is there isn't changed any more, and a cloud controller may name zones in its own
    # way.
    if UNINITIALIZED_TAINT in node.taint_keys:
        return {}
    offer = offer_of(request.spec, world.offerings.get(node_class_of(pool, world), ()))
    return {} if offer is None else offer.labels


def node_annotations(request: NodeRequest, now: Instant) -> Mapping[str, str]:
    """Annotations that explain a node: its price, when it was bought, and why."""
    bought_at = request.status.accepted_at or now.wall
    found = {
        PRICE_ANNOTATION: format(request.spec.price, "f"),
        BOUGHT_AT_ANNOTATION: write_time(bought_at),
    }
    if request.spec.currency:
        found[CURRENCY_ANNOTATION] = request.spec.currency
    told = request.metadata.annotations
    return {**found, **{name: told[name] for name in HANDED_ON if name in told}}


def _annotations(request: NodeRequest, node: Node, now: Instant) -> Mapping[str, str]:
    wanted = dict(node_annotations(request, now))
    if request.status.node_id is not None:
        wanted[SERVER_ID_ANNOTATION] = request.status.node_id
    there = node.metadata.annotations
    return {key: value for key, value in wanted.items() if key not in there}


def _is_new(request: NodeRequest, node: Node, world: World) -> bool:
    """Whether growth hasn't written anything to the node yet."""
    record = world.records.get(request.name)
    if record is not None:
        return record.status.node is None
    return BOUGHT_AT_ANNOTATION not in node.metadata.annotations


def _taints(pool: NodePool, node: Node, *, may_serve: bool, is_new: bool) -> tuple[Taint, ...]:
    """The node's taints as they should be.

    A node that joined without the start-up taint was registered without the pool's taints too, so
    they are added. If it had the start-up taint, a missing pool taint was removed by someone else,
    and stays removed.
    """
    there = {(taint.key, taint.effect) for taint in node.spec.taints}
    lacking = (
        tuple(each for each in node_taints(pool) if (each.key, each.effect) not in there)
        if is_new and not is_unregistered(node)
        else ()
    )
    wanted = (*node.spec.taints, *lacking)
    if may_serve:
        wanted = tuple(taint for taint in wanted if taint.key != UNREGISTERED.key)
    return wanted


def _lacking_drivers(
    request: NodeRequest, now: Instant, missing: tuple[str, ...]
) -> Iterator[Condition]:
    if missing:
        message = (
            f"These storage drivers haven't registered on the node within {DRIVERS_WAIT:.0f} s: "
            f"{', '.join(missing)}. The node serves without them; check their DaemonSets."
        )
        yield Condition(
            type=DRIVERS,
            status=Truth.TRUE,
            observed_generation=request.metadata.generation,
            last_transition_time=now.wall,
            reason="NotRegistered",
            message=message[:LONGEST],
        )
