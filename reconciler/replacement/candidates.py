"""Which nodes may be chosen to go, and how many of them at one time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from growth.api.disruption import Consolidation, DisruptionReason
from growth.keeping.occupants import held_by_pods, still_true
from growth.keeping.order import kept_at_least
from reconciler.core.actions import machine
from reconciler.core.decision import NEVER
from reconciler.facts.currencies import currency_of_pool
from reconciler.facts.fleet import nodes_of_pools
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.listings import listed_machine
from reconciler.facts.marks import is_marked
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.paid_hours import seconds_until_node_marked
from reconciler.facts.serving import serves_now
from reconciler.facts.sizes import size_of_pool
from reconciler.replacement.allowance import allowed_disruptions
from reconciler.replacement.kept import kept_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.keeping.occupants import OccupantsAnswer
    from growth.keeping.scene import KeepingScene
    from growth.keeping.wanting import Keeping
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


AHEAD = 600.0
"""How many seconds before the end of its paid hour a node may be chosen: its pods have to move, and
its machine has to be gone in time."""


@dataclass(frozen=True, kw_only=True)
class ReplacementCandidate:
    """A node that may go."""

    node: Node
    pool: NodePool
    pods: tuple[Pod, ...]
    """The pods that would need another place."""
    price: int
    """Millionths an hour, as it was bought."""
    currency: str = ""
    """The currency of the price; only nodes with the same currency go together."""
    is_quiet: bool = True
    """Whether it may go now, and not only later."""

    @property
    def name(self) -> str:
        """The node's."""
        return self.node.name


@dataclass(frozen=True, kw_only=True)
class ReplacementLook:
    """The view of one pass."""

    world: World
    now: Instant
    clouds: Mapping[ClassKey, SightedCloud]
    taken: frozenset[str]
    """Nodes that a swap is about, as old ones or as new ones."""

    @cached_property
    def keeping_scene(self) -> KeepingScene:
        """What decides whether a node is kept; worked out once, for all reasons to replace one."""
        return scene_of(self.world)

    def held_by_pods(self, node: Node) -> Keeping | None:
        """Why a pod on the node may not be moved; None if all of them may."""
        known = self._known.get(node.name)
        cluster = self.world.cluster
        return held_by_pods(node, cluster, self.now) if known is None else known.held

    @cached_property
    def _known(self) -> Mapping[str, OccupantsAnswer]:
        # The status of pools needs the same answers every second. Without them, each search would
        # ask about all pods of the cluster in one pass.
        return still_true(self.world.ledger.pools.occupants, self.world.cluster, self.now)


def disrupted(look: ReplacementLook, old: Iterable[str]) -> Counter[str]:
    """How many nodes of each pool are disrupted: replaced, or on their way out with pods."""
    world = look.world
    standing = {
        name: pool_of_node(world.cluster.nodes[name]) for name in old if name in world.cluster.nodes
    }
    # To the end of its removal, though its Node may be gone before.
    leaving = {
        name: removal.spec.pool
        for name, removal in world.removals.items()
        if removal.spec.reason.meaning.disruption is not None
    }
    return Counter({**standing, **leaving}.values())


def ceilings(
    look: ReplacementLook, reason: DisruptionReason, gone: Counter[str]
) -> Mapping[str, int]:
    """How many more nodes of each pool may go."""
    nodes = Counter(each.pool for each in nodes_of_pools(look.world).values())
    return {
        name: allowed_disruptions(
            pool, reason, nodes=nodes[name], disrupted=gone[name], now=look.now
        )
        for name, pool in look.world.pools.items()
    }


class Eligible(NamedTuple):
    """The nodes that could go if that is cheaper, whatever their pods say."""

    quiet: tuple[Node, ...]
    restless: tuple[Node, ...]
    """Nodes that may go later, once they have been quiet for long enough."""
    wake_at: float
    """When there may be others without a change."""


def eligible(look: ReplacementLook, ceilings: Mapping[str, int]) -> Eligible:
    """All of them; it is asked in each pass."""
    quiet: list[Node] = []
    restless: list[Node] = []
    wakes: list[float] = []
    for node in look.world.cluster.ordered_nodes:
        pool = look.world.pools.get(pool_of_node(node))
        # From the cheapest question to the dearest: most nodes drop out early, and this runs in
        # each pass.
        if pool is None or not _is_consolidated(pool, look.world):
            continue
        if ceilings[pool.name] <= 0 or not _is_within_reach(node, pool, look):
            continue
        keeping = kept_from(DisruptionReason.CONSOLIDATION, node, look.keeping_scene, look.now)
        if keeping is not None:
            wakes.append(keeping.ends_at(look.now))
        elif (wake := _waits(node, pool, look)) > look.now.monotonic:
            wakes.append(wake)
        elif (wake := _quiet_at(node, look)) > look.now.monotonic:
            wakes.append(wake)
            restless.append(node)
        else:
            quiet.append(node)
    return Eligible(tuple(quiet), tuple(restless), min(wakes, default=NEVER))


def _is_consolidated(pool: NodePool, world: World) -> bool:
    """Whether nodes of a pool go for cheaper ones: not where its policy sets their number."""
    is_wanted = pool.spec.disruption.consolidation is not Consolidation.NEVER
    return is_wanted and size_of_pool(pool, world).serves_demand


def candidates(
    nodes: Eligible, look: ReplacementLook
) -> tuple[tuple[ReplacementCandidate, ...], float]:
    """The nodes whose pods may all be moved, and when there may be more."""
    wakes: list[float] = []
    restless = {node.name for node in nodes.restless}
    made = [_candidate(node, look, wakes) for node in (*nodes.quiet, *nodes.restless)]
    known = [each for each in made if each is not None]
    # Over all candidates together: each of them alone might go without touching the floor.
    held = _held(known, look)
    found = tuple(
        replace(each, is_quiet=each.name not in restless) for each in known if each.name not in held
    )
    return found, min(wakes, default=NEVER)


def _is_within_reach(node: Node, pool: NodePool, look: ReplacementLook) -> bool:
    """Whether replacement may deal with a node now, and no other rule does already."""
    world = look.world
    return (
        pool.metadata.deletion_timestamp is None
        and node.name not in look.taken
        and world.is_free(machine(node.name))
        and listed_machine(node, pool, world, look.clouds) is not None
    )


def is_in_use(node: Node, world: World) -> bool:
    """Whether it serves and isn't marked to go."""
    return serves_now(node, world) and not is_marked(node)


def movable(node: Node, look: ReplacementLook) -> tuple[tuple[Pod, ...] | None, float]:
    """The pods that would move; None if one of them may not, and when that passes by itself."""
    occupancy = look.world.cluster.occupancy(node.name)
    if occupancy.is_any_terminating:
        return None, NEVER
    held = look.held_by_pods(node)
    return (occupancy.keepers, NEVER) if held is None else (None, held.ends_at(look.now))


def price_of_node(name: str, world: World) -> int:
    """The price of a node per hour when it was bought."""
    standing = nodes_of_pools(world).get(name)
    return 0 if standing is None else standing.price


def currency_of_node(name: str, world: World) -> str:
    """The currency of that price; empty if it is unknown."""
    standing = nodes_of_pools(world).get(name)
    if standing is None:
        return ""
    return standing.currency or currency_of_pool(world.pools.get(standing.pool), world)


def _waits(node: Node, pool: NodePool, look: ReplacementLook) -> float:
    """Until when a node is left alone, apart from its quiet time; NEVER if only a change helps."""
    world, now = look.world, look.now
    ledger = world.ledger.replacement
    if not is_in_use(node, world) or not world.cluster.occupancy(node.name).keepers:
        return NEVER
    paid = seconds_until_node_marked(node, pool, world, now) - AHEAD
    return max(ledger.resting.get(node.name, 0.0), now.monotonic + paid)


def _quiet_at(node: Node, look: ReplacementLook) -> float:
    """When its pods have been the same for long enough."""
    return look.world.ledger.replacement.still[node.name].since + look.world.timing.quiet


def _candidate(
    node: Node, look: ReplacementLook, wakes: list[float]
) -> ReplacementCandidate | None:
    pods, passes_at = movable(node, look)
    wakes.append(passes_at)
    price = price_of_node(node.name, look.world)
    # A node that costs nothing can't get cheaper.
    if pods is None or not price:
        return None
    pool = look.world.pools[pool_of_node(node)]
    currency = currency_of_node(node.name, look.world)
    return ReplacementCandidate(node=node, pool=pool, pods=pods, price=price, currency=currency)


def _held(found: Iterable[ReplacementCandidate], look: ReplacementLook) -> frozenset[str]:
    """The nodes within the floors of their pools, which are left alone."""
    by_pool: defaultdict[str, list[Node]] = defaultdict(list)
    for each in found:
        by_pool[each.pool.name].append(each.node)
    return frozenset(
        name
        for pool, nodes in by_pool.items()
        for name in kept_at_least(nodes, look.world.pools[pool], look.keeping_scene)
    )


class Turn(NamedTuple):
    """Nodes that have to go."""

    nodes: tuple[Node, ...]
    """The nodes that may go now, in order."""
    wake_at: float
    """When there may be others without a change."""


def in_turn(
    names: Mapping[str, str],
    ceilings: Mapping[str, int],
    look: ReplacementLook,
    *,
    reason: DisruptionReason,
) -> Turn:
    """The nodes that may go, as far as their pools allow it."""
    found: list[Node] = []
    wakes: list[float] = []
    for name in sorted(names):
        node = look.world.cluster.nodes.get(name)
        pool = None if node is None else look.world.pools.get(pool_of_node(node))
        if node is None or pool is None or ceilings[pool.name] <= 0:
            continue
        rests = look.world.ledger.replacement.resting.get(name, 0.0) > look.now.monotonic
        if rests or not _is_within_reach(node, pool, look):
            continue
        if (keeping := kept_from(reason, node, look.keeping_scene, look.now)) is not None:
            wakes.append(keeping.ends_at(look.now))
        else:
            found.append(node)
    return Turn(tuple(found), min(wakes, default=NEVER))
