"""What a pool's scaling policy has seen and decided, from the pool's status."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from growth.api.scaling_status import ScalingStep
from growth.cli.explain.story import Fact
from growth.cli.terminal.texts import ahead, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.scaling_status import ScalingHold, ScalingStatus

STEPS: Final = {ScalingStep.UP: "scales up", ScalingStep.DOWN: "scales down"}
PERCENT: Final = "Percent"


def scaling_facts(pool: NodePool, now: datetime) -> Iterator[Fact]:
    """The decision, the numbers behind it, and what holds the policy up."""
    status = pool.status.scaling
    if status is None:
        return
    yield Fact("scaling", f"{status.policy}: {status.message}")
    if status.seen:
        yield Fact("scaling", "seen: " + ", ".join(_numbers(status)))
    for hold in status.holds:
        yield Fact("held up", _hold(hold, now))


def scaling_words(pool: NodePool, now: datetime) -> Iterator[str]:
    """The same in a few words."""
    status = pool.status.scaling
    if status is None:
        return
    shares = {each.name: each.value for each in status.seen if each.name.endswith(PERCENT)}
    if shares:
        larger = max(shares.values(), key=_share)
        yield f"{larger} % requested" if larger.isdigit() else "no node for its pods"
    if status.step in STEPS:
        yield f"{STEPS[status.step]} by {counted(abs(status.change), 'node')}"
    for hold in status.holds[:1]:
        end = "" if hold.until is None else f" (ends {ahead(hold.until, now)})"
        yield f"held up by {hold.reason}{end}"


def _share(value: str) -> float:
    return int(value) if value.isdigit() else inf


def _numbers(status: ScalingStatus) -> Iterator[str]:
    for each in status.seen:
        name = each.name.removesuffix(PERCENT)
        yield f"{name} {each.value}{' %' if name != each.name else ''}"


def _hold(hold: ScalingHold, now: datetime) -> str:
    about = f"{hold.node}: " if hold.node else ""
    end = "" if hold.until is None else f", which ends {ahead(hold.until, now)} at the latest"
    return f"{about}{hold.reason}: {hold.message}{end}"
