"""The status of node classes, and their finalizer.

The status shows the result of the last check with the cloud. A finalizer keeps the class as long as
its pools have machines: without the class, growth couldn't reach these machines any more, and they
would be paid for until someone deletes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Condition, Truth, condition_of_type, stated
from growth.api.meta import Blockage
from growth.api.nodeclass import ANOTHER_WRITER
from growth.api.standing import conditions
from reconciler.core.actions import Action, PatchStatus, Sequence, node_class_subject, version_of
from reconciler.core.decision import Decision
from reconciler.facts.finalizers import has_our_finalizer, held, let_go
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.ownership import pool_of_node
from reconciler.pools.saying import begun_or_ended
from reconciler.providers.port import FailureClass
from reconciler.removal.another_writer import words_of_others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodeclass import NodeClass, NodeClassStatus
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.providers.port import Checked, ClassKey

REASONS: Final = {FailureClass.TEMPLATE: "ClassRefused", FailureClass.FATAL: "AccessRefused"}
PRICES: Final = "PricesBelieved"
"""The condition of a class whose cloud has at some time reported prices that can't be true."""
ALONE: Final = ("NoneSeen", "All machines that the cloud lists belong to this cluster.")
LONGEST: Final = 1024


def decide(world: World, now: Instant) -> Decision[None]:
    """One step for each class that has been checked with its cloud."""
    sequences = []
    for key in sorted(world.checks):
        node_class, subject = world.node_classes.get(key), node_class_subject(key)
        if node_class is None or not world.is_free(subject):
            continue
        for step, why in _steps(key, world, now):
            sequences.append(Sequence(subject=subject, steps=(step,), why=why))
            break
    return Decision(section=None, sequences=tuple(sequences))


def _steps(key: ClassKey, world: World, now: Instant) -> Iterator[tuple[Action, str]]:
    """The steps for a class, the most urgent first; each write changes the object's version."""
    node_class, checked = world.node_classes[key], world.checks[key]
    status = node_class_status(key, world, now)
    is_current = checked.generation == node_class.metadata.generation
    if is_current and status != node_class.status:
        patch = PatchStatus(
            kind=node_class.kind, version=version_of(node_class), status=_document(status)
        )
        yield patch, "its cloud has answered"
    if node_class.metadata.deletion_timestamp is not None:
        if has_our_finalizer(node_class) and not is_needed(key, world):
            yield let_go(node_class), "no machine needs the class any more"
    # Before the first machine is created: a class that disappears leaves machines that nothing can
    # list or delete.
    elif not has_our_finalizer(node_class):
        yield held(node_class), "machines may be created with the class from now on"


def is_needed(key: ClassKey, world: World) -> bool:
    """Whether a machine can be reached only through this class, or may exist unseen."""
    pools = {pool.name for pool in world.pools.values() if node_class_of(pool, world) == key}
    subjects = (
        *(request.spec.pool for request in world.requests.values()),
        *(removal.spec.pool for removal in world.removals.values()),
        *(pool_of_node(node) for node in world.cluster.nodes.values()),
    )
    if any(pool in pools for pool in subjects):
        return True
    sight = world.clouds.get(key)
    if sight is None or sight.listing is None or sight.blind_since is not None:
        return True
    # A machine of a pool that is gone may be of any class.
    return any(
        machine.pool in pools or machine.pool not in world.pools
        for machine in sight.listing.machines.values()
    )


def node_class_status(key: ClassKey, world: World, now: Instant) -> NodeClassStatus:
    """The status with the result of the last check, and who else buys there."""
    node_class, checked = world.node_classes[key], world.checks[key]
    document = {**checked.found, "observedGeneration": checked.generation}
    status = (
        type(node_class.status)
        .model_validate(document)
        .model_copy(
            update={"blocked": _blockage(checked), "conditions": node_class.status.conditions}
        )
    )
    after = node_class.model_copy(update={"status": status})
    told = (
        *conditions(after, now.wall),
        *_prices(node_class, checked, now),
        *_others(key, world, now),
    )
    return status.model_copy(update={"conditions": told})


def _blockage(checked: Checked) -> Blockage | None:
    if checked.failure is None:
        return None
    message = _short("; ".join(checked.problems))
    return Blockage(reason=REASONS[checked.failure], message=message)


def _prices(node_class: NodeClass, checked: Checked, now: Instant) -> Iterator[Condition]:
    """The condition exists from the first doubt on."""
    before = condition_of_type(node_class.status.conditions, PRICES)
    if before is None and not checked.doubts:
        return
    yield stated(
        node_class.status.conditions,
        name=PRICES,
        status=Truth.FALSE if checked.doubts else Truth.TRUE,
        generation=checked.generation,
        reason="Implausible" if checked.doubts else "Plausible",
        message=_short("; ".join(checked.doubts)),
        now=now.wall,
    )


def _others(key: ClassKey, world: World, now: Instant) -> Iterator[Condition]:
    """Whether another growth buys there. Without a usable listing, the last condition stays."""
    node_class, remembered = world.node_classes[key], world.ledger.removal
    before = condition_of_type(node_class.status.conditions, ANOTHER_WRITER)
    news = None
    if key in remembered.others:
        names = remembered.others[key]
        said = ("MachinesOfAnother", _short(words_of_others(names))) if names else None
        news = begun_or_ended(node_class, now, name=ANOTHER_WRITER, said=said, otherwise=ALONE)
    if (told := news or before) is not None:
        yield told


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _document(status: NodeClassStatus) -> dict[str, object]:
    # With its nulls: a merge patch doesn't change fields that it doesn't contain.
    return status.model_dump(mode="json")
