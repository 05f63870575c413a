"""What a pool says while one of its limits, or of all pools together, keeps pods from a machine.

A limit that is reached and that nobody minds is no news. One that pods wait for is: somebody has to
raise it, or to accept that they wait. The condition names the limit that binds, and goes when the
pods have a place, are gone, or wait for something else.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from growth.demand.pools import pools_of
from reconciler.planning.reasons import OF_POOL
from reconciler.pool_notices import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.instant import Instant
    from reconciler.actions import Sequence
    from reconciler.planning.tries import Try
    from reconciler.pool_notices import Words
    from reconciler.world import World

CONDITION: Final = "LimitReached"
ROOM: Final = ("RoomLeft", "No limit keeps a machine from pods that wait.")
WORDS: Final = {
    "max of": "TypeMaximum",
    "limits.nodesPerHour": "NodesPerHour",
    "limits.nodes": "Nodes",
    "limits.cpu": "Cpu",
    "limits.memory": "Memory",
    "limits.hourlyCost": "HourlyCost",
    "(--max-nodes)": "TotalNodes",
    "(--max-nodes-per-hour)": "TotalNodesPerHour",
    "(--max-hourly-cost)": "TotalHourlyCost",
}
"""What the name of a limit holds, and the reason of the condition. What else limits a plan (an
offer that is tried with one machine, a quota of the cloud) nobody has set here."""
IN_TOTAL: Final = "is reached: raise it in the reconciler's settings, or wait until a node goes"


def notices(world: World, now: Instant) -> Iterator[Sequence]:
    """The condition of each pool of which a limit has begun or ceased to bind."""
    bound = _bound(world)
    for name, pool in sorted(world.pools.items()):
        said = min(bound[name], default=None)
        if said is not None or not _is_open(world):
            yield from notice(pool, world, now, condition=CONDITION, said=said, otherwise=ROOM)


def _bound(world: World) -> Mapping[str, set[Words]]:
    """By pool: every limit that a pod waits for which could use it."""
    found: defaultdict[str, set[Words]] = defaultdict(set)
    for uid, one in world.ledger.planning.tries.items():
        reason = next((word for part, word in WORDS.items() if part in one.limit), "")
        if reason and uid in world.pending:
            for name in _pools(uid, one, world):
                found[name].add((reason, _message(one)))
    return found


def _pools(uid: str, one: Try, world: World) -> frozenset[str]:
    """Whose limit it is; one in total is that of each pool that the pod could use."""
    if one.limit.startswith(OF_POOL):
        return frozenset((one.limit.removeprefix(OF_POOL).partition(": ")[0],))
    return pools_of(world.pending[uid], tuple(world.pools))


def _message(one: Try) -> str:
    """The words that the pod is told, which hold the remedy of a pool's own limit."""
    return one.reason if one.limit.startswith(OF_POOL) else f"{one.limit} {IN_TOTAL}"


def _is_open(world: World) -> bool:
    """Whether a plan that is asked for, or about to be, may say the same once more."""
    planning = world.ledger.planning
    is_new = not planning.number and bool(world.pending)
    return is_new or planning.asked is not None or planning.window is not None
