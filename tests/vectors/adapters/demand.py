"""Which pods are demand, and of which pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.demand.detection import is_demand
from growth.demand.pools import UsablePools, match_pools, wish_of
from tests.scheduling import build
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json


@adapts("is_unschedulable")
def unschedulable(given: Json) -> Json:
    said = given["pod_scheduled_condition"]
    conditions = []
    if said is not None:
        status, reason = [*said, None][:2]
        conditions = [{"type": "PodScheduled", "status": status, "reason": reason or ""}]
    pod = build.pod(status={"phase": "Pending", "conditions": conditions})
    return {"unschedulable": is_demand(pod)}


@adapts("is_daemonset")
def daemon_set(given: Json) -> Json:
    owner = given["owner"]
    owners = [{"kind": owner, "name": "owner", "uid": "1", "controller": True}] if owner else []
    return {"daemonset": build.pod(metadata={"ownerReferences": owners}).is_of_daemon_set}


@adapts("assign_pool")
def assigned_pool(given: Json) -> Json:
    named = given["pod_pool"]
    selector = {} if named is None else {"growth.dev/pool": named}
    verdict = match_pools(wish_of(build.pod(nodeSelector=selector)), given["pools"])
    if isinstance(verdict, UsablePools):
        (pool,) = verdict.names
        return {"pool": pool}
    return {"error": "PoolNotFound", "requested": " or ".join(verdict.requested)}
