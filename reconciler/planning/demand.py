"""Which pods still need a place, and which of them take part in the next plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.demand.pools import PoolNotFound, match, wish_of
from reconciler.planning.tries import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.pod import Pod
    from reconciler.planning.nominations import Nominated
    from reconciler.planning.tries import Try
    from reconciler.world import World


def wanting(world: World) -> dict[str, Pod]:
    """All demand, by uid, in a stable order."""
    found = (pod for uid, pod in world.pending.items() if world.demand.is_demand(uid))
    return {
        pod.metadata.uid: pod for pod in sorted(found, key=lambda pod: (pod.name, pod.metadata.uid))
    }


def without_place(demand: Mapping[str, Pod], nominated: Nominated) -> dict[str, Pod]:
    """Those to whom nothing has been promised yet."""
    return {uid: pod for uid, pod in demand.items() if uid not in nominated.places}


def to_be_planned(
    waiting: Mapping[str, Pod], tries: Mapping[str, Try], now: float
) -> dict[str, Pod]:
    """Those who take part in a plan that is made now."""
    return {
        uid: pod
        for uid, pod in waiting.items()
        if uid not in tries or tries[uid].standing(now) is Standing.NORMAL
    }


def pools_by_pod(
    pods: Mapping[str, Pod], world: World
) -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """The pools of each pod; and, for those that find none, why."""
    found: dict[str, frozenset[str]] = {}
    missing: dict[str, str] = {}
    for uid, pod in pods.items():
        verdict = match(wish_of(pod), world.pools)
        if isinstance(verdict, PoolNotFound):
            missing[uid] = verdict.text
        else:
            found[uid] = verdict.names
    return found, missing


def siblings_missing(waiting: Mapping[str, Pod], world: World) -> bool:
    """Whether pods of the same owners are there that the scheduler hasn't judged yet."""
    owners = {controller.uid for pod in waiting.values() if (controller := pod.metadata.controller)}
    return any(
        pod.metadata.controller is not None
        and pod.metadata.controller.uid in owners
        and not pod.status.conditions
        and not pod.is_terminating
        for pod in world.pending.values()
    )
