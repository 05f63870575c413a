"""The input of one pass of replacement: the world, the swaps in progress, and what must go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reconciler.core.decision import earliest
from reconciler.facts.listings import clouds
from reconciler.replacement.allowance import next_change
from reconciler.replacement.at_rest import is_moving
from reconciler.replacement.candidates import ReplacementLook, ceilings, disrupted
from reconciler.replacement.going_on import followed
from reconciler.replacement.health import sick
from reconciler.replacement.remembering import swaps_looked_after
from reconciler.replacement.swaps import swaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.disruption import DisruptionReason
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.swaps import Swap


@dataclass(frozen=True, kw_only=True)
class ReplacementScene:
    """The input of a step; the memory in its world is that of the previous step."""

    look: ReplacementLook
    swaps: tuple[Swap, ...]
    """The swaps in progress."""
    old: frozenset[str]
    """Nodes that swaps replace, and those whose removals are opened or under way."""
    sick: Mapping[str, str]
    """Nodes that have to be repaired, each with the reason."""
    wake_at: float
    """When others may be sick without a change."""

    @property
    def world(self) -> World:
        """Everything that is known."""
        return self.look.world

    @property
    def now(self) -> Instant:
        """The moment of the pass."""
        return self.look.now

    @property
    def ledger(self) -> ReplacementLedger:
        """What is remembered."""
        return self.look.world.ledger.replacement

    @property
    def is_moving(self) -> bool:
        """Whether demand has no place yet, or something is on its way in or out."""
        return is_moving(self.world, self.now, self.swaps)

    @property
    def budgets_change_at(self) -> float:
        """When a window of a disruption budget opens or closes next."""
        return earliest(next_change(pool, self.now) for pool in self.world.pools.values())

    def most(self, reason: DisruptionReason) -> Mapping[str, int]:
        """How many more nodes of each pool may go for this reason."""
        return ceilings(self.look, reason, disrupted(self.look, self.old))

    def having(self, ledger: ReplacementLedger) -> ReplacementScene:
        """The same after a step that remembers this."""
        return replace(
            self,
            look=replace(self.look, world=_having(self.world, ledger)),
            swaps=tuple(each for each in self.swaps if each.text not in ledger.given_up),
        )


def scene_at(world: World, now: Instant) -> ReplacementScene:
    """The scene at the beginning of a pass, with what happened since the last one."""
    kept = swaps_looked_after(world, now)
    health, ill, wake_at = sick(world, now, kept.health)
    kept = replace(kept, health=health)
    world = _having(world, kept)
    known = swaps(world)
    # Before anything is chosen: the nodes of a swap that is given up here no longer count for the
    # budgets of this pass.
    kept = followed(kept, known, world, now)
    world = _having(world, kept)
    under_way = tuple(each for each in known if each.text not in kept.given_up)
    replaced = frozenset(name for swap in under_way for name in swap.nodes)
    old = replaced | kept.going.keys() | kept.opening.keys()
    new = frozenset(name for swap in under_way for name in swap.machines)
    look = ReplacementLook(world=world, now=now, clouds=clouds(world), taken=old | new)
    return ReplacementScene(look=look, swaps=under_way, old=old, sick=ill, wake_at=wake_at)


def _having(world: World, ledger: ReplacementLedger) -> World:
    return world.remembering(replace(world.ledger, replacement=ledger))
