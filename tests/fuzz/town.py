"""A small town: one object of each kind, in most stages of its life, and how others write it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.kube.cache.contents import Unreadable
from growth.kube.cache.resource import WatchedResource
from growth.kube.cache.watch_events import read_object
from growth.scheduling.node import Node
from growth.scheduling.objects import decode_node, decode_pod
from growth.scheduling.pod import Pod
from reconciler.core.timing import Timing
from reconciler.seeing.unreadable import with_unreadable
from tests.reconciler.build import pool, record, request, waiting
from tests.removal.build import machine, marked, node, removal, world
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.core.world import World

PRICED = {"growth.dev/price": "1", "growth.dev/bought-at": "2026-01-01T00:00:00Z"}
PENDING = "default-11111111-2222-3333-4444-555555555555"
CONTROLLED = [{"kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}]


def town() -> dict[str, Any]:
    """One of each, in most stages of its life."""
    web = {"ownerReferences": CONTROLLED}
    found = (
        pool(),
        node("default-idle", annotations=PRICED),
        marked("default-marked", until=110.0),
        node("default-used", annotations=PRICED),
        node("default-sick", annotations=PRICED, ready=False),
        node("default-going", annotations=PRICED, unschedulable=True),
        build.node("laptop"),
        request(PENDING, pods=(waiting("web-1"),)),
        request("default-coming", status={"phase": "Provisioning", "nodeID": "kwok://x"}),
        request("default-used", status={"phase": "Ready", "readyAt": "2026-01-01T00:00:00Z"}),
        removal("default-going", reason="Drift"),
        record("default-used", template="{}"),
        record("default-left"),
        waiting("web-0", metadata=web),
        build.pod("web-2", on="default-used", status={"phase": "Running"}, metadata=web),
        build.pod("web-3", on="default-going", status={"phase": "Running"}, metadata=web),
    )
    return {f"{type(each).__name__} {each.metadata.name}": each for each in found}


class Poisoned(NamedTuple):
    """One object of the town, as somebody else has written it."""

    name: str
    document: Any
    is_told_by_a_reader: bool = False
    """Whether the poison is where strict readers read, so that no rule can fail on it."""


KINDS: dict[str, tuple[Any, Callable[[bytes], Any]]] = {
    "Node": (Node, decode_node),
    "Pod": (Pod, decode_pod),
    "NodePool": (NodePool, NodePool.model_validate_json),
    "NodeRequest": (NodeRequest, NodeRequest.model_validate_json),
    "NodeRecord": (NodeRecord, NodeRecord.model_validate_json),
    "NodeRemovalRequest": (NodeRemovalRequest, NodeRemovalRequest.model_validate_json),
}


def document_of(found: Any) -> Any:
    if isinstance(found, Node | Pod):
        return json.loads(msgspec.json.encode(found))
    return json.loads(found.model_dump_json(by_alias=True))


def decoded(poisoned: Poisoned) -> Any:
    """The object as a cache reads it."""
    kind = poisoned.name.split()[0]
    raw = json.dumps(poisoned.document).encode(errors="surrogatepass")
    resource: WatchedResource[Any] = WatchedResource(path="/x", decode=KINDS[kind][1])
    return read_object(raw, resource=resource)


def seen(objects: dict[str, Any], poisoned: Poisoned | None) -> World:
    """The world as a cache shows it; what can't be decoded is put aside."""
    objects = dict(objects)
    unreadable: dict[str, tuple[Unreadable, ...]] = {}
    if poisoned is not None:
        kind = poisoned.name.split()[0]
        found = decoded(poisoned)
        del objects[poisoned.name]
        if isinstance(found, Unreadable):
            unreadable[kind] = (found,)
        else:
            objects[poisoned.name] = found
    names = [each.metadata.name for each in objects.values() if isinstance(each, Node)]
    shown = tuple(machine(name) for name in names if name.startswith("default-"))
    made = world(*objects.values(), shown=shown, timing=Timing(stable_interval=0.0))
    return with_unreadable(made, unreadable)
