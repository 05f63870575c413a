"""Which nodes of a pool go: too many ones, and those whose measured use is low.

Candidates are checked one after the other, in their order. What holds one back is told, and the
next one is tried.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.scaling_status import ScalingHold
from growth.foreign_text import time_or_none
from growth.instant import whole_second
from growth.scheduling.moving import SYSTEM
from reconciler.scaling.desired.cooldowns import DOWN_COOLDOWN
from reconciler.scaling.desired.modes import (
    ModeWindow,
    ScaleDownPace,
    is_let_go,
    mode_at,
    pace_of,
)
from reconciler.scaling.desired.order import DrainCandidate, disturbance, first_to_go
from reconciler.scaling.desired.safety import (
    Blocked,
    Refuge,
    ScaleDownCheck,
    node_block,
    pool_block,
    refuge_of,
)
from reconciler.scaling.desired.scene import number_fields
from reconciler.scaling.desired.use import JudgedUse, UseThresholds, UseVerdict, judged_use
from reconciler.scaling.scene import scaling_scene

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.scaling_desired import ScaleDownWindow
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.scaling.desired.counting import SizeCounts
    from reconciler.scaling.desired.scene import GroupScene

MOST_TOLD: Final = 10
"""Nodes whose reason to stay is told."""


class Going(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that go, and what holds others back."""

    names: tuple[str, ...] = ()
    holds: tuple[ScalingHold, ...] = ()
    is_for_use: bool = False
    """Whether they go because they are used little, and not because they are too many."""
    kept_on: int = 0
    """Nodes that were to go for their use, and stay after all."""
    underused: tuple[str, ...] = ()
    """Nodes whose measured use was low for long enough."""
    unmeasured: int = 0
    """Nodes whose use isn't known."""


@dataclass(frozen=True, kw_only=True)
class ShrinkScene:
    """What a decision about going depends on."""

    pool: NodePool
    scene: GroupScene
    world: World
    now: Instant
    counts: SizeCounts
    before: frozenset[str]
    """The nodes that were chosen earlier and are still there."""
    scaled_at: datetime | None
    """When the pool was last scaled, in any direction."""
    was_for_use: bool
    """Whether they were chosen because they are used little."""
    floor: int
    """The number below which nodes don't go for their use."""
    pace: ScaleDownPace
    """How eagerly nodes go now."""

    @property
    def refuge(self) -> Refuge:
        """Where pods of nodes that go could move to: the same for all pools."""
        return scaling_scene(self.world).remembered("refuge", partial(_refuge, self.world))


def _refuge(world: World) -> Refuge:
    return refuge_of(
        (
            node
            for node in world.cluster.ordered_nodes
            if node.is_ready and not node.spec.unschedulable and node.name not in world.removals
        ),
        world.cluster,
    )


def pace_now(pool: NodePool, moment: datetime) -> ScaleDownPace:
    """How eagerly nodes of a pool go at a moment."""
    fields = number_fields(pool)
    own = ScaleDownPace(
        cpu=fields.cpu_utilization_threshold,
        memory=fields.memory_utilization_threshold,
        window=fields.underutilization_duration.seconds,
    )
    windows = map(_window, fields.scale_down_windows)
    return pace_of(mode_at(moment, default=fields.scale_down_policy, windows=windows), own)


def _window(written: ScaleDownWindow) -> ModeWindow:
    return ModeWindow(
        start=written.start,
        end=written.end,
        days=written.weekdays,
        mode=written.policy,
    )


def chosen_to_go(seen: ShrinkScene) -> Going:
    """The nodes that go now: those chosen earlier as long as they are too many, and then others."""
    kept, lost = _chosen_earlier(seen)
    told = _told_of_use(seen)
    if lost and seen.was_for_use:
        # They would have gone for their use. No other node has to go instead.
        names, number = tuple(kept), len(lost)
        return msgspec.structs.replace(
            told, names=names, holds=(*lost, *told.holds), kept_on=number
        )
    if lost:
        # The next one is tried at once: the cooldown has passed for this step.
        seen = dataclasses.replace(seen, scaled_at=None)
    going = msgspec.structs.replace(told, names=kept, holds=(*lost, *told.holds))
    missing = seen.counts.excess - len(kept)
    if missing:
        nodes = (node.name for node in seen.scene.nodes if node.name not in kept)
        return _with_more(going, tuple(nodes), missing, least=seen.counts.least, seen=seen)
    if kept:
        return going
    wanted = min(seen.pace.at_once, len(told.underused))
    found = _with_more(going, told.underused, wanted, least=seen.floor, seen=seen)
    return msgspec.structs.replace(found, is_for_use=bool(found.names))


def _chosen_earlier(seen: ShrinkScene) -> tuple[tuple[str, ...], tuple[ScalingHold, ...]]:
    """The nodes that still go, and what holds the others back by now."""
    nodes = {node.name: node for node in seen.scene.nodes}
    kept: list[str] = []
    lost: list[ScalingHold] = []
    for name in sorted(seen.before)[: seen.counts.excess]:
        blocked = _block_of(nodes[name], kept, seen)
        if blocked is None:
            kept.append(name)
        else:
            lost.append(_hold(blocked, node=name))
    return tuple(kept), tuple(lost)


def _told_of_use(seen: ShrinkScene) -> Going:
    judged = _judged(seen)
    underused = [name for name, (verdict, _) in judged.items() if verdict is UseVerdict.UNDERUSED]
    # If nothing can be read at all, that is the reason for all of them.
    general = seen.world.use.problem
    unmeasured = {
        name: general or why for name, (v, why) in judged.items() if v is UseVerdict.UNKNOWN
    }
    return Going(
        holds=tuple(_unmeasured_hold(unmeasured)),
        underused=tuple(underused),
        unmeasured=len(unmeasured),
        is_for_use=seen.was_for_use and bool(seen.before),
    )


def _with_more(
    going: Going, among: tuple[str, ...], wanted: int, *, least: int, seen: ShrinkScene
) -> Going:
    """With so many more of these nodes, unless something holds the pool or all of them back."""
    if wanted <= 0:
        return going
    if hold := _pool_hold(seen, least):
        return msgspec.structs.replace(going, holds=(hold, *going.holds))
    room = seen.counts.current - len(going.names) - least
    names, holds = _passing(among, min(wanted, room), seen)
    return msgspec.structs.replace(
        going, names=(*going.names, *names), holds=(*holds, *going.holds)
    )


def _judged(seen: ShrinkScene) -> dict[str, JudgedUse]:
    pace, use = seen.pace, seen.world.use
    limits = UseThresholds(cpu=pace.cpu, memory=pace.memory, window=pace.window)
    now = seen.now.wall.timestamp()
    return {node.name: judged_use(use.of(node.name), limits, now=now) for node in seen.scene.nodes}


def _unmeasured_hold(unmeasured: dict[str, str]) -> Iterator[ScalingHold]:
    if unmeasured:
        name, why = min(unmeasured.items())
        number = len(unmeasured)
        rest = f" and {number - 1} other nodes" if number > 1 else ""
        yield _hold(
            Blocked(
                reason=ScaleDownCheck.METRICS,
                why=f"the use of {name}{rest} isn't known, so they don't go for it: {why}",
            )
        )


def _pool_hold(seen: ShrinkScene, least: int) -> ScalingHold | None:
    """What holds all nodes of the pool back."""
    pace, scaled_at = seen.pace, seen.scaled_at
    if not pace.is_allowed:
        why = "scaleDownPolicy is Disabled now"
        return _hold(Blocked(reason=ScaleDownCheck.POLICY, why=why))
    if pace.is_delayed and seen.scene.leaving:
        why = "scaleDownPolicy is Conservative, and another node is still going"
        return _hold(Blocked(reason=ScaleDownCheck.POLICY, why=why))
    elapsed = None if scaled_at is None else seen.now.seconds_since(scaled_at)
    cooldown = number_fields(seen.pool).scale_down_cooldown.seconds
    counts = msgspec.structs.replace(seen.counts, least=least)
    blocked = pool_block(counts, cooldown=cooldown, elapsed=elapsed)
    if blocked is None:
        return None
    left = 0.0 if elapsed is None else (cooldown or DOWN_COOLDOWN) - elapsed
    until = seen.now.ahead(left) if blocked.reason is ScaleDownCheck.COOLDOWN else None
    return _hold(blocked, until=until)


def _passing(
    names: Iterable[str], wanted: int, seen: ShrinkScene
) -> tuple[tuple[str, ...], tuple[ScalingHold, ...]]:
    """The first nodes that nothing holds back, and why those before them stay."""
    wished = frozenset(names)
    among = {node.name: node for node in seen.scene.nodes if node.name in wished}
    going: list[str] = []
    holds: list[ScalingHold] = []
    for each in first_to_go((_candidate(node, seen) for node in among.values()), len(among)):
        if len(going) == wanted:
            break
        blocked = _block_of(among[each.name], going, seen)
        if blocked is None:
            going.append(each.name)
        elif len(holds) < MOST_TOLD:
            holds.append(_hold(blocked, node=each.name))
    return tuple(going), tuple(holds)


def _block_of(node: Node, going: list[str], seen: ShrinkScene) -> Blocked | None:
    annotations = node.metadata.annotations
    wall = seen.now.wall
    if not is_let_go(annotations, minute=wall.hour * 60 + wall.minute):
        return Blocked(reason=ScaleDownCheck.POLICY, why="its annotation doesn't allow it now")
    refuge = seen.refuge.without((node.name, *going), seen.world.cluster)
    return node_block(node, seen.world.cluster, refuge=refuge)


def _candidate(node: Node, seen: ShrinkScene) -> DrainCandidate:
    born = time_or_none(node.metadata.creation_timestamp)
    samples = seen.world.use.of(node.name).samples
    use = samples[-1].percent if samples else None
    pods = seen.world.cluster.occupancy(node.name).pods
    of_system = sum(pod.metadata.namespace == SYSTEM for pod in pods)
    return DrainCandidate(
        name=node.name,
        is_ready=node.is_ready,
        born=born.timestamp() if born is not None else 0.0,
        use=use,
        disturbs=disturbance(use or Fraction(0), pods=len(pods), system_pods=of_system),
    )


def _hold(blocked: Blocked, *, node: str = "", until: datetime | None = None) -> ScalingHold:
    word = "".join(part.capitalize() for part in blocked.reason.value.split("_"))
    ends = None if until is None else whole_second(until)
    return ScalingHold(reason=word, node=node, message=blocked.why, until=ends)
