"""Worlds for tests: everything healthy and empty, but for what a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderequest import NodeRequest
from growth.api.written import ServerTypeName
from growth.demand.demanded import DemandBooks
from growth.instant import Instant
from growth.kube.cache.health import CacheHealth
from growth.scheduling.cluster import Object, cluster_of
from growth.scheduling.objects import Pod
from reconciler.brakes.rule import BrakesLedger
from reconciler.core.timing import Timing
from reconciler.core.world import World
from reconciler.ledger import Ledger
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.providers.port import ClassKey, Order
from tests.scheduling import build

START = datetime(2026, 1, 1, tzinfo=UTC)
WHOLE = CacheHealth(is_complete=True, listed_at=0.0, lists=1)
RELEASED = BrakesLedger(whole_since=0.0, clear_since=0.0, may_act=True, may_remove=True, reason="")
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def at(seconds: float) -> Instant:
    return Instant(monotonic=seconds, wall=START + timedelta(seconds=seconds))


def waiting(name: str = "web-0", /, **fields: Any) -> Pod:
    """A pod that the scheduler has given up on."""
    return build.pod(name, status={"phase": "Pending", "conditions": [UNSCHEDULABLE]}, **fields)


def pool(name: str = "default", /, **spec: Any) -> NodePool:
    types = [{"name": "small", "max": 10}, {"name": "large", "max": 10}]
    document = {
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"serverTypes": types} | spec,
    }
    return NodePool.model_validate(document)


def node_class(name: str = "default", /, **spec: Any) -> KwokNodeClass:
    """Small machines at 1 an hour here and 2 there, large ones at 3."""
    types = [
        _type("small", cpu="2", memory="4Gi", offers={"here": "1", "there": "2"}),
        _type("large", cpu="8", memory="16Gi", offers={"here": "3"}),
    ]
    return KwokNodeClass.model_validate(
        {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {"types": types} | spec}
    )


def _type(name: str, *, offers: dict[str, str], **resources: str) -> dict[str, Any]:
    return {
        "name": name,
        "resources": {**resources, "pods": "110"},
        "offers": [{"location": place, "price": price} for place, price in offers.items()],
    }


def small_order(name: str, /, *, request_uid: str) -> Order:
    """For a small machine of the pool `default`."""
    return Order(
        name=name,
        request_uid=request_uid,
        pool="default",
        node_class=ClassKey("KwokNodeClass", "default"),
        server_type=ServerTypeName("small"),
        location="here",
        own_labels={},
        labels={},
        annotations={},
        taints=(),
    )


def request(
    name: str = "default-1", /, *, pods: tuple[Pod, ...] = (), status: Any = None, **spec: Any
) -> NodeRequest:
    references = [
        {"namespace": each.metadata.namespace, "name": each.metadata.name, "uid": each.metadata.uid}
        for each in pods
    ]
    return NodeRequest.model_validate(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "resourceVersion": "7",
                "finalizers": ["growth.dev/provider-cleanup"],
            },
            "spec": {
                "pool": "default",
                "targetOffering": "kwok-small",
                "serverType": "small",
                "location": "here",
                "price": Decimal(1),
                "pods": references,
            }
            | spec,
            "status": status or {},
        }
    )


def record(name: str = "default-1", /, *, status: Any = None, **spec: Any) -> NodeRecord:
    """The record of a small machine here, which its Node has joined if the status says so."""
    return NodeRecord.model_validate(
        {
            "metadata": {"name": name, "uid": f"uid-record-{name}", "resourceVersion": "7"},
            "spec": {
                "pool": "default",
                "nodeClassRef": {"kind": "KwokNodeClass", "name": "default"},
                "serverType": "small",
                "location": "here",
                "price": Decimal(1),
                "nodeID": f"kwok://{name}",
                "requestUID": f"uid-{name}",
                "boughtAt": START,
            }
            | spec,
            "status": status or {},
        }
    )


def world(
    *objects: Object | NodePool | KwokNodeClass | NodeRequest | NodeRecord, **changes: Any
) -> World:
    """Nodes are believed as they are written; `tests.trust` has worlds as they are read."""
    ours = (NodePool, KwokNodeClass, NodeRequest, NodeRecord)
    classes = {
        ClassKey("KwokNodeClass", each.name): each
        for each in objects
        if isinstance(each, KwokNodeClass)
    }
    pools = {each.name: each for each in objects if isinstance(each, NodePool)}
    demand = DemandBooks()
    demand.pools(pools, at(0))
    for each in objects:
        if isinstance(each, Pod):
            demand.put(each, at(0))
    seen = World(
        demand=demand.at(at(0)),
        cluster=cluster_of(each for each in objects if not isinstance(each, ours)),
        pending={
            each.metadata.uid: each
            for each in objects
            if isinstance(each, Pod) and not each.spec.node_name
        },
        pools=pools,
        node_classes=classes,
        requests={each.name: each for each in objects if isinstance(each, NodeRequest)},
        removals={},
        records={each.name: each for each in objects if isinstance(each, NodeRecord)},
        offerings={key: kwok_offerings(each) for key, each in classes.items()},
        answers={},
        busy=frozenset(),
        sources={"pods": WHOLE, "nodes": WHOLE},
        timing=Timing(),
        seed=1,
        ledger=Ledger(brakes=RELEASED),
    )
    return msgspec.structs.replace(seen, **changes)


def said_by(module: Any, seen: World, now: Instant) -> tuple[str, str, str] | None:
    """Status, reason and message of the condition that pools write now; None if none does."""
    found = [module.news(each, seen, now) for each in seen.pools.values()]
    written = [each for each in found if each is not None]
    assert len(written) <= 1
    return (written[0].status, written[0].reason, written[0].message) if written else None
