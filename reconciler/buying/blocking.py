"""Which pools are blocked: they can't buy anything until a person changes something.

A pool is blocked when its node class can't be used: the class doesn't exist, its cloud says that no
machine can be created with it, or a create failed in a way that a retry can't fix. The last case is
kept in the pool's status with the generations of pool and class, and ends when one of them changes.
A refusal of access also ends when the cloud accepts the token again, or after a while, because
there is no other sign that a token works again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import condition_of_type
from growth.api.meta import Blockage
from growth.api.wellknown import DEFAULT_NODE_CLASS
from growth.instant import just_after
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.unknown_purchase import has_unknown_purchase
from reconciler.providers.port import FailureClass

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey

CONDITION: Final = "NodeClassReady"
MISSING: Final = "NodeClassMissing"
REFUSED: Final = "ClassRefused"
"""Found by the check of the class itself, which is repeated."""
TEMPLATE: Final = "TemplateRefused"
"""Found by the answer to a create."""
NO_ACCESS: Final = "AccessRefused"
FOUND: Final = {FailureClass.TEMPLATE: REFUSED, FailureClass.FATAL: NO_ACCESS}
ANSWERED: Final = {FailureClass.TEMPLATE: TEMPLATE, FailureClass.FATAL: NO_ACCESS}
ASKED_AGAIN: Final = 300.0
"""Seconds after which a cloud that refused access is asked once more."""
LONGEST: Final = 1024


def may_buy(pool: NodePool, world: World) -> bool:
    """Whether anything may be bought for a pool now, by all that is written."""
    return (
        pool.metadata.deletion_timestamp is None
        and pool.status.blocked is None
        and not world.is_paused(pool.name)
        and not world.is_blocked(node_class_of(pool, world))
        and not has_unknown_purchase(pool.name, world)
    )


def standing_blockage(pool: NodePool, world: World, now: Instant) -> Blockage | None:
    """Why the pool is blocked, apart from current answers to its own requests."""
    key = node_class_of(pool, world)
    if key not in world.node_classes:
        return Blockage(reason=MISSING, message=_missing(pool, key, world))
    checked = world.checks.get(key)
    if checked is not None and checked.failure is not None and checked.failure in FOUND:
        message = "; ".join(checked.problems)[:LONGEST]
        return Blockage(reason=FOUND[checked.failure], message=message)
    return pool.status.blocked if _still_holds(pool, key, world, now) else None


def _missing(pool: NodePool, key: ClassKey, world: World) -> str:
    if pool.spec.node_class_ref is not None:
        return f"{key.kind} {key.name} doesn't exist: create it, or correct spec.nodeClassRef"
    number = sum(each.name == DEFAULT_NODE_CLASS for each in world.node_classes)
    found = "two kinds have one" if number else "there is none"
    return (
        f'the pool names no node class, and of those called "{DEFAULT_NODE_CLASS}" {found}: '
        "name one in spec.nodeClassRef"
    )


def node_class_blockage(pool: NodePool) -> Condition | None:
    """The part of the pool's status about its node class."""
    return condition_of_type(pool.status.conditions, CONDITION)


def _still_holds(pool: NodePool, key: ClassKey, world: World, now: Instant) -> bool:
    blocked, condition = pool.status.blocked, node_class_blockage(pool)
    if blocked is None or condition is None:
        return False
    node_class = world.node_classes[key].metadata
    is_about_these = (
        pool.status.observed_generation == pool.metadata.generation
        and condition.observed_generation == node_class.generation
    )
    if not is_about_these:
        return False
    checked = world.checks.get(key)
    if blocked.reason == NO_ACCESS:
        age = now.seconds_since(condition.last_transition_time)
        # Only a check after the refusal proves that it is over.
        lets_in = checked is not None and now.monotonic - checked.at < age
        return age < ASKED_AGAIN and not lets_in
    # After a restart the class hasn't been checked yet. Until then the last verdict stays, or each
    # restart would buy with a class that can't be used.
    return blocked.reason == TEMPLATE or (blocked.reason == REFUSED and checked is None)


def next_unblocking(pool: NodePool, now: Instant) -> float | None:
    """When a blocked pool may be free by time alone, in monotonic seconds."""
    blocked, condition = pool.status.blocked, node_class_blockage(pool)
    if blocked is None or condition is None or blocked.reason != NO_ACCESS:
        return None
    left = ASKED_AGAIN - now.seconds_since(condition.last_transition_time)
    return just_after(now.monotonic + max(0.0, left))
