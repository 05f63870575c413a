"""Checks of purchases: maxima and caps, counted again with everything that is about to be bought.

Only limits on machines and money are checked. CPU and memory are not: a node may have other amounts
than the catalogue promised, and that would not be a wrong decision.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reconciler.buying.costs import paid_by_currency
from reconciler.core.actions import CreateNodeRequest, machine
from reconciler.facts.fleet import (
    CountedMachine,
    in_currencies,
    may_have_machine,
    nodes_of_pools,
    standing_of,
)
from reconciler.facts.requested import HOUR, Bought, unconfirmed
from reconciler.invariants.breach import Breach, Invariant
from reconciler.invariants.ledger import InvariantsLedger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.actions import Sequence
    from reconciler.core.world import World

MILLION = 1_000_000


def created(sequences: Iterable[Sequence]) -> Mapping[str, NodeRequest]:
    """The requests that are about to be written, by name."""
    return {
        step.request.name: step.request
        for sequence in sequences
        for step in sequence.steps
        if isinstance(step, CreateNodeRequest)
    }


def overbought(
    new: Mapping[str, NodeRequest], memory: InvariantsLedger, world: World
) -> Iterator[Breach]:
    """Purchases that exceed a limit. A retried create was judged when it was first decided."""
    begun = {name: standing_of(each) for name, each in new.items() if name not in memory.unseen}
    if not begun:
        return
    fresh = in_currencies(begun, world)
    # By a memory of its own: what a room has forgotten by mistake would be missing here, too.
    # Machines that only a listing shows are left out, other than in the fleet that plans count:
    # this purchase may have been decided on before the listing came, and a breach stops everything.
    coming = {**memory.unseen, **world.requests}
    known = {
        **nodes_of_pools(world),
        **{
            name: standing_of(each)
            for name, each in coming.items()
            if may_have_machine(each, world)
        },
        **fresh,
    }
    machines = in_currencies(known, world)
    hour = Counter(each.pool for each in memory.begun.values())
    hour.update(each.pool for each in fresh.values())
    for name in sorted({each.pool for each in fresh.values()}):
        yield from _of_pool(name, world.pools.get(name), machines, fresh=fresh, hour=hour[name])
    yield from _in_total(machines.values(), world, fresh=fresh.values(), hour=hour.total())


def _of_pool(
    name: str,
    pool: NodePool | None,
    machines: Mapping[str, CountedMachine],
    *,
    fresh: Mapping[str, CountedMachine],
    hour: int,
) -> Iterator[Breach]:
    if pool is None:
        yield _too_many(f"a machine would be bought for pool {name}, which doesn't exist", name)
        return
    own = [each for each in machines.values() if each.pool == name]
    types = Counter(each.server_type for each in own)
    most = {entry.name: entry.max for entry in pool.spec.server_types}
    for sort in sorted({each.server_type for each in fresh.values() if each.pool == name}):
        if types[sort] > most.get(sort, 0):
            yield _too_many(
                f"{types[sort]} of {sort} in pool {name}, {most.get(sort, 0)} allowed", name
            )
    limits = pool.spec.limits
    cost = _dearest(own, (each for each in fresh.values() if each.pool == name))
    if limits.nodes is not None and len(own) > limits.nodes:
        yield _too_many(f"{len(own)} nodes in pool {name}, {limits.nodes} allowed", name)
    if limits.nodes_per_hour is not None and hour > limits.nodes_per_hour:
        text = f"{hour} nodes within an hour for pool {name}, {limits.nodes_per_hour} allowed"
        yield _too_many(text, name)
    if limits.hourly_cost is not None and cost > int(limits.hourly_cost * MILLION):
        text = f"{cost / MILLION:.4f} an hour for pool {name}, {limits.hourly_cost} allowed"
        yield _too_many(text, name)


def _dearest(machines: Iterable[CountedMachine], fresh: Iterable[CountedMachine]) -> int:
    """The highest cost per hour among the currencies of the new machines.

    A cost limit applies to each currency separately, so machines in other currencies don't count.
    """
    paid = paid_by_currency(machines)
    return max((paid.get(each.currency, 0) for each in fresh), default=0)


def _too_many(text: str, pool: str) -> Breach:
    return Breach(invariant=Invariant.MAXIMUM_KEPT, text=text, pool=pool)


def _in_total(
    machines: Iterable[CountedMachine],
    world: World,
    *,
    fresh: Iterable[CountedMachine],
    hour: int,
) -> Iterator[Breach]:
    caps, have = world.caps, list(machines)
    cost = _dearest(have, fresh)
    found = []
    if caps.nodes is not None and len(have) > caps.nodes:
        found.append(f"{len(have)} nodes in all pools, {caps.nodes} allowed")
    if caps.nodes_per_hour is not None and hour > caps.nodes_per_hour:
        found.append(f"{hour} nodes within an hour in all pools, {caps.nodes_per_hour} allowed")
    if caps.hourly_cost is not None and cost > int(caps.hourly_cost * MILLION):
        found.append(f"{cost / MILLION:.4f} an hour for all pools, {caps.hourly_cost} allowed")
    return (Breach(invariant=Invariant.TOTAL_KEPT, text=text) for text in found)


def remembered_purchases(
    before: InvariantsLedger, new: Mapping[str, NodeRequest], world: World, now: Instant
) -> InvariantsLedger:
    """The memory after these purchases: requests that no cache shows yet, and the last hour's."""
    unseen = {name: each for name, each in before.unseen.items() if _is_unseen(name, world)}
    recent = {n: each for n, each in before.begun.items() if each.at + HOUR > now.monotonic}
    begun = {n: Bought(pool=each.spec.pool, at=now.monotonic) for n, each in new.items()}
    # The first date stays: a create that is tried again is the same purchase.
    return InvariantsLedger(unseen={**unseen, **new}, begun={**begun, **recent})


def _is_unseen(name: str, world: World) -> bool:
    """Whether a create is under way or will be retried."""
    is_wanted = name in unconfirmed(world)
    return name not in world.requests and (is_wanted or not world.is_free(machine(name)))
