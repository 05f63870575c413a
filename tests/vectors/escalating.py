"""A row's node group as the policy `Utilisation` sees it, and the runs that are played on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.written import Duration, write_time
from growth.scheduling.resources import NOTHING, Resources
from reconciler.scaling.utilisation.deciding import run_once
from reconciler.scaling.utilisation.grace import GracePeriods
from reconciler.scaling.utilisation.group import Group, GroupOptions, PodDemand
from reconciler.scaling.utilisation.health import HealthCheck
from reconciler.scaling.utilisation.lock import LockTimes
from reconciler.scaling.utilisation.nodes import GroupNode
from reconciler.scaling.utilisation.percent import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.scaling.utilisation.deciding import Run
    from reconciler.scaling.utilisation.lock import ScaleLock
    from tests.vectors.rows import Json

# Taints are stamped in whole seconds, and runs rarely begin at one.
START = datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC)
LONG = "8760h"


def span(written: str) -> timedelta:
    """A duration; as the original reads it, none without a unit."""
    try:
        return Duration.parse(written).timedelta
    except ValueError:
        return timedelta(0)


def room(cpu: int, memory: int) -> Resources:
    """What a node has or a pod asks for; the original leaves out what is negative."""
    return Resources({"cpu": max(0, cpu), "memory": max(0, memory)})


def node_of(given: Json, number: int = 0, **marks: Any) -> GroupNode:
    """A node that a row describes: by its age, or by when it was created."""
    age = timedelta(hours=given.get("age_hours", 0), minutes=given.get("age_minutes", 0))
    # The original's nodes are made a moment before they are looked at.
    created = given.get("created") or write_time(START - age - timedelta(microseconds=1))
    return GroupNode(
        name=given.get("name", f"node-{number}"),
        created=created,
        is_ready=given.get("ready", True),
        is_cordoned=given.get("cordoned", False),
        is_tainted=given.get("tainted", False),
        is_forced=given.get("force_tainted", False),
        **marks,
    )


def nodes_of(given: Iterable[Json], **marks: Any) -> tuple[GroupNode, ...]:
    """Nodes in the row's order."""
    return tuple(node_of(each, number, **marks) for number, each in enumerate(given))


def like(capacity: Json, *, count: int, prefix: str = "node", **marks: Any) -> list[GroupNode]:
    """So many nodes of one size, that serve."""
    size = room(capacity["cpu_milli"], capacity["mem"])
    fields: Json = {"is_ready": True, "free": size, "created": write_time(START)} | marks
    return [
        GroupNode(name=f"{prefix}-{number}", capacity=size, **fields) for number in range(count)
    ]


def tainted_now() -> Json:
    """The marks of a node that has just been tainted."""
    return {"is_tainted": True, "tainted_at": START.replace(microsecond=0)}


def pods_of(given: Json | None) -> PodDemand:
    """So many equal pods."""
    if not given:
        return PodDemand()
    count = given["count"]
    cpu, memory = given.get("cpu_milli", 0), given.get("mem", 0)
    return PodDemand(pods=count, requests=room(count * cpu, count * memory))


def options_of(given: Json, *, least: int | None = None) -> GroupOptions:
    """A row's options; what it leaves out is zero, as in the original."""
    grace = given.get("unhealthy_node_grace_period")
    minimum = given.get("min_nodes", 0)
    return GroupOptions(
        min_nodes=minimum,
        max_nodes=given.get("max_nodes", 1000),
        least=minimum if least is None else least,
        thresholds=Thresholds(
            given.get("taint_lower", 0),
            given.get("taint_upper", 0),
            given.get("scale_up_threshold_percent", 100),
        ),
        slow_rate=given.get("slow_node_removal_rate", 0),
        fast_rate=given.get("fast_node_removal_rate", 0),
        lock_times=LockTimes(
            period=span(given.get("scale_up_cool_down_period", "2m")),
            timeout=span(given.get("scale_up_cool_down_timeout", "10m")),
        ),
        grace=GracePeriods(
            soft=span(given.get("soft_delete_grace_period", LONG)),
            hard=span(given.get("hard_delete_grace_period", LONG)),
        ),
        max_age=span(given.get("max_node_age", "")) or None,
        health=HealthCheck(grace=span(grace)) if grace else None,
        scales_on_starve=given.get("scale_on_starve", False),
    )


@dataclass
class PlayedGroup:
    """A node group over several runs."""

    options: GroupOptions
    nodes: list[GroupNode]
    demand: PodDemand
    machines: int
    most: int
    known: Resources | None = None
    unseen: str = ""
    now: datetime = START
    lock: ScaleLock | None = None
    brings_nodes: bool = True
    size: Resources = field(default=NOTHING)
    came: int = 0

    def run(self) -> Run:
        """One run, and what it does."""
        run = run_once(self.group())
        self.lock = run.lock
        self.machines += run.buys - len(run.goes) - len(run.drains)
        gone = {*run.goes, *run.drains}
        self.nodes = [self._marked(each, run) for each in self.nodes if each.name not in gone]
        return run

    def group(self) -> Group:
        """The group as the next run sees it."""
        return Group(
            options=self.options,
            nodes=tuple(self.nodes),
            demanded=self.demand,
            machines=self.machines,
            most=self.most,
            known_size=self.known,
            lock=self.lock,
            now=self.now,
            unseen=self.unseen,
        )

    def bring(self) -> None:
        """All machines that were asked for become nodes."""
        while len(self.nodes) < self.machines and self.brings_nodes:
            self.came += 1
            fresh = {"cpu_milli": self.size["cpu"], "mem": self.size["memory"]}
            self.nodes += like(fresh, count=1, prefix=f"new-{self.came}")

    def runs(self, number: int, every: str) -> None:
        """More runs at this interval."""
        for _ in range(number):
            self.now += span(every)
            self.bring()
            self.run()

    def delta_when_open(self) -> int:
        """What the first run decides that the lock lets through."""
        while True:
            self.now += timedelta(minutes=1)
            self.bring()
            run = self.run()
            if run.reason != "Locked":
                return run.delta

    def _marked(self, node: GroupNode, run: Run) -> GroupNode:
        if node.name in run.taints:
            at = self.now.replace(microsecond=0)
            return msgspec.structs.replace(node, is_tainted=True, tainted_at=at)
        if node.name in run.untaints:
            return msgspec.structs.replace(node, is_tainted=False, tainted_at=None)
        return node


def node_like(node: GroupNode, **changes: Any) -> GroupNode:
    """The node with other fields."""
    return msgspec.structs.replace(node, **changes)


def later() -> datetime:
    """When nodes of the start are older than any grace that a row leaves at zero."""
    return START + timedelta(seconds=2)
