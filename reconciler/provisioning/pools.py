"""What a pool says of itself, and how it goes.

The status is worked out from what there is, never counted up and down, and written only when it
says something new. What others wait for is written at once: what the provider doesn't have, what
blocks the pool, what was learnt of its nodes. Figures, and why nodes are there, are counted at most
once a second, however much happens in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.conditions import Truth, condition, conditions_of
from growth.api.standing import object_verdict
from growth.keeping.answer import keeping_answers
from reconciler.buying import blocking
from reconciler.core.actions import PatchStatus, Sequence, Subject, SubjectKind, version_of
from reconciler.core.decision import NEVER, Decision, earliest
from reconciler.facts.finalizers import has_our_finalizer, held
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.node_classes import node_class_of
from reconciler.planning.unplaced import unplaced_by_pool
from reconciler.provisioning import keeping, learning
from reconciler.provisioning.blocked import blockage_for_status
from reconciler.provisioning.counting import counted_machines, tallies
from reconciler.provisioning.ledger import PoolsCounted
from reconciler.provisioning.pool_leaving import step_of_leaving_pool, stripped
from reconciler.provisioning.refused import next_refusal_end, unmet_offers
from reconciler.provisioning.telling import status_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import NodePoolStatus
    from growth.instant import Instant
    from reconciler.core.actions import Action
    from reconciler.provisioning.look import ProvisioningLook

BETWEEN_COUNTS: Final = 1.0
"""Seconds between two counts at least."""
NULLABLE: Final = ("blocked",)


class PoolCount(NamedTuple):
    """What is counted now and then."""

    figures: Mapping[str, Mapping[str, Any]]
    """By pool; nothing while it isn't time."""
    wake_at: float
    """When it says something else, though nothing changes."""
    remembered: PoolsCounted


def pools_decided(look: ProvisioningLook) -> Decision[PoolsCounted]:
    """One step for each pool that is free for one; it remembers how all were counted last."""
    last = look.memory.counted
    is_due = last.at is None or look.now.monotonic >= last.at + BETWEEN_COUNTS
    count = _counted(look) if is_due else PoolCount({}, (last.at or 0.0) + BETWEEN_COUNTS, last)
    sequences: list[Sequence] = []
    wakes = [count.wake_at]
    for name, pool in sorted(look.world.pools.items()):
        wakes += _wakes(pool, look.now)
        sequences += stripped(pool, look)
        subject = Subject(SubjectKind.POOL, name)
        if not look.world.is_free(subject):
            continue
        steps, why = _steps(pool, look, count.figures.get(name))
        if steps:
            sequences.append(Sequence(subject=subject, steps=steps, why=why))
    return Decision(
        section=count.remembered, sequences=tuple(sequences), wake_at=min(wakes, default=NEVER)
    )


def _wakes(pool: NodePool, now: Instant) -> Iterator[float]:
    yield from next_refusal_end(pool, now)
    looks_again = blocking.next_unblocking(pool, now)
    if looks_again is not None:
        yield looks_again


def _counted(look: ProvisioningLook) -> PoolCount:
    world, before = look.world, look.memory.counted.occupants
    known = keeping_answers(scene_of(world), look.now, before=before)
    return PoolCount(
        figures=_figures(
            look, keeping.kept_status(known.keepings, world.cluster.nodes, world.pools)
        ),
        wake_at=earliest(each.ends_at(look.now) for each in known.keepings.values()),
        remembered=PoolsCounted(at=look.now.monotonic, occupants=known.occupants),
    )


def _figures(
    look: ProvisioningLook, kept: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Mapping[str, Any]]:
    world = look.world
    found = tallies(world)
    lacking = {each.pool: each for each in unplaced_by_pool(world, world.ledger.planning, look.now)}
    return {
        name: {
            **counted_machines(pool, found),
            **kept.get(name, keeping.NONE),
            "learnt_allocatable": learning.learnt(pool, look.nodes.get(name, ()), world),
            "unplaced": lacking[name].unplaced,
            "unserved": lacking[name].unserved,
        }
        for name, pool in world.pools.items()
    }


def _steps(
    pool: NodePool, look: ProvisioningLook, figures: Mapping[str, Any] | None
) -> tuple[tuple[Action, ...], str]:
    if pool.metadata.deletion_timestamp is not None:
        going = step_of_leaving_pool(pool, look)
        return going.actions, going.why
    if not has_our_finalizer(pool):
        return (held(pool),), "its machines are looked after before it goes"
    status = _status(pool, look, figures or {})
    if status is pool.status or status == pool.status:
        return (), ""
    patch = PatchStatus(kind=type(pool).__name__, version=version_of(pool), status=_written(status))
    return (patch, *status_events(pool, status)), "the pool has changed"


def _status(pool: NodePool, look: ProvisioningLook, figures: Mapping[str, Any]) -> NodePoolStatus:
    news = {
        **figures,
        "observed_generation": pool.metadata.generation,
        "unmet_offers": unmet_offers(pool, look.failed.get(pool.name, ()), look.world),
        "blocked": blockage_for_status(pool, look),
    }
    status = _with(pool.status, news)
    before, generation = pool.status.conditions, pool.metadata.generation
    derived = (
        *conditions_of(
            object_verdict(status), generation=generation, before=before, now=look.now.wall
        ),
        _of_node_class(pool, status, look),
    )
    types = {each.type for each in derived}
    stands = (*derived, *(each for each in before if each.type not in types))
    return _with(status, {"conditions": stands})


def _with(status: NodePoolStatus, news: Mapping[str, Any]) -> NodePoolStatus:
    """The status with these fields; the same one, as nearly always, if they are no news."""
    are_known = all(getattr(status, name) == value for name, value in news.items())
    return status if are_known else status.model_copy(update=news)


def _of_node_class(pool: NodePool, status: NodePoolStatus, look: ProvisioningLook) -> Condition:
    """Whether machines can be made; it is about the generation of the node class."""
    blocked, before = status.blocked, blocking.node_class_blockage(pool)
    node_class = look.world.node_classes.get(node_class_of(pool, look.world))
    truth = Truth.TRUE if blocked is None else Truth.FALSE
    return condition(
        before if before is not None and before.status is truth else None,
        name=blocking.CONDITION,
        status=truth,
        generation=0 if node_class is None else node_class.metadata.generation,
        reason="Usable" if blocked is None else blocked.reason,
        message="" if blocked is None else blocked.message,
        now=look.now.wall,
    )


def _written(status: NodePoolStatus) -> Mapping[str, Any]:
    """As a merge patch: what is unset has to be said."""
    return {**dict.fromkeys(NULLABLE), **status.document()}
