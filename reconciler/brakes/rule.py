"""The first rule of every pass: what may be done at all, given how far the sources can be trusted.

A cache that is old or half full looks exactly like a correct one. So nothing is done before every
cache is complete and has stayed complete for a stable interval, and nothing is removed while a
source is blind or its last list is suspicious. The interval starts again whenever trust is lost.

For each cloud the rule records whether its last listing is believed. Any rule that draws a
conclusion from machines has to check that.

Paused pools are recorded here too, so that every later rule can check them. Whatever a rule
decides, the loop starts nothing that would buy for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reconciler.brakes.pauses import Pause, next_pause_end, pauses, waits_for_records
from reconciler.brakes.trust import Trust, trusts
from reconciler.core.decision import NEVER, Decision
from reconciler.facts.unrecorded import unsettled_pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.invariants.breach import Breach
    from reconciler.providers.port import ClassKey


@dataclass(frozen=True, kw_only=True, slots=True)
class BrakesLedger:
    """The brakes' verdict, for the rooms after them."""

    whole_since: float | None = None
    """Since when every cache has been complete."""
    clear_since: float | None = None
    """Since when there has been no doubt about any source."""
    may_act: bool = False
    """Whether anything may be decided."""
    may_remove: bool = False
    """Whether machines may be given back."""
    reason: str = "no cache has been read yet"
    """Why not, for people; empty if everything may be done."""
    pauses: Mapping[str, Pause] = field(default_factory=dict)
    """Pools that a person has paused, or whose machines aren't known yet."""
    clouds: Mapping[ClassKey, Trust] = field(default_factory=dict)
    """How far each cloud is believed."""
    breach: Breach | None = None
    """The breach that stopped all writing, until a person restarts growth."""

    def stopped(self, breach: Breach) -> BrakesLedger:
        """The brakes after a breach: nothing may be done any more."""
        return replace(
            self,
            breach=breach,
            may_act=False,
            may_remove=False,
            reason=f"{breach.invariant}: {breach.text}",
        )

    def believes(self, cloud: ClassKey) -> bool:
        """Whether the cloud's last listing is believed."""
        trust = self.clouds.get(cloud)
        return trust is not None and not trust.doubt


def decide(world: World, now: Instant) -> Decision[BrakesLedger]:
    """How far the sources can be trusted now."""
    before = world.ledger.brakes
    missing = sorted(name for name, health in world.sources.items() if not health.is_complete)
    doubts = list(_doubts(world))
    whole_since = None if missing else _since(before.whole_since, now)
    # From the beginning each time: caches that break and come back in turn would otherwise add up
    # to trust.
    clear_since = None if missing or doubts else _since(before.clear_since, now)
    acts_at = _after(whole_since, world)
    removes_at = _after(clear_since, world)
    clouds = trusts(world, before.clouds)
    believes = replace(before, clouds=clouds).believes
    waiting = waits_for_records(unsettled_pools(world, believes=believes))
    held = {**waiting, **pauses(world, now)}
    return Decision(
        section=BrakesLedger(
            whole_since=whole_since,
            clear_since=clear_since,
            may_act=acts_at <= now.monotonic,
            may_remove=max(acts_at, removes_at) <= now.monotonic,
            reason=_reason(missing, doubts, waits=removes_at > now.monotonic),
            pauses=held,
            clouds=clouds,
        ),
        wake_at=min(
            (at for at in (acts_at, removes_at, next_pause_end(held, now)) if at > now.monotonic),
            default=NEVER,
        ),
    )


def _since(before: float | None, now: Instant) -> float:
    return now.monotonic if before is None else before


def _after(since: float | None, world: World) -> float:
    return NEVER if since is None else since + world.timing.stable_interval


def _doubts(world: World) -> Iterator[str]:
    for name, health in sorted(world.sources.items()):
        if health.blind_since is not None:
            yield f"{name}: {health.problem or 'not connected'}"
        if health.suspicion is not None:
            yield f"{name}: {health.suspicion.value}"
        if health.unreadable:
            # What can't be read may be the pod that keeps a node, or the removal that is under way.
            yield f"{name}: {health.unreadable} objects can't be read"


def _reason(missing: list[str], doubts: list[str], *, waits: bool) -> str:
    if missing:
        return f"waiting for the first list of {', '.join(missing)}"
    if doubts:
        return "; ".join(doubts)
    return "all caches are complete, and have to stay so for the stable interval" if waits else ""
