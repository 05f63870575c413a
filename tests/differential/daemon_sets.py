"""What the real daemon controller puts on nodes, beside what our rules say it will.

Nodes and pod templates are those of the cases: every DaemonSet is asked about every node. The pods
that the controller makes are compared too, as our requests for a node that doesn't exist yet come
from the template, before the API server has filled anything in.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import daemonsets, objects
from tests.differential import stage
from tests.differential.cases import Isolation, stamped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.scheduling.objects import DaemonSet, Node, Pod
    from tests.differential.cases import Case, Manifest
    from tests.differential.connection import Connection

CONSTRAINTS = (
    "requests",
    "init-containers",
    "sidecars",
    "pod-level-resources",
    "extended-resources",
    "huge-pages",
    "taints",
    "unschedulable-nodes",
    "node-selector",
    "node-affinity",
    "numeric-node-affinity",
    "match-fields",
    "host-ports",
)
"""What the controller looks at, and what decides how much its pods take."""
NAMESPACE = "plain-0"
_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_PATIENCE, _BETWEEN_LOOKS = 60.0, 0.3


class Made(msgspec.Struct, frozen=True):
    """A pod that a DaemonSet has, or will have, on a node: what decides how it is placed."""

    daemon_set: str
    node: str
    requests: frozenset[tuple[str, int]]
    host_ports: frozenset[object]
    tolerations: frozenset[object]


async def compared(connection: Connection, cases: Sequence[Case]) -> tuple[set[Made], set[Made]]:
    """What the controller made, and what our rules expect."""
    run = secrets.token_hex(3)
    actors = [
        stamped(msgspec.structs.replace(case, isolation=Isolation.SEATS), stamp=stamp, place=0)
        for at, case in enumerate(cases)
        for stamp in (f"d{run}{at}",)
    ]
    nodes = [each for actor in actors for each in actor.objects if each["kind"] == "Node"]
    sets = [_daemon_set(actor) for actor in actors]
    try:
        await asyncio.gather(*(stage.add(connection, node) for node in nodes))
        await asyncio.gather(*(connection.create(_SETS, each) for each in sets))
        return await _settled(connection)
    finally:
        await asyncio.gather(
            *(connection.delete(f"{_SETS}/{_name(each)}", {}) for each in sets),
            *(connection.delete(f"/api/v1/nodes/{_name(node)}", {}) for node in nodes),
        )
        await connection.delete(_PODS, {"gracePeriodSeconds": 0})


async def _settled(connection: Connection) -> tuple[set[Made], set[Made]]:
    """Both when they are equal, or as they are when patience is at its end."""
    made, expected = await _made(connection), await _expected(connection)
    for _ in range(round(_PATIENCE / _BETWEEN_LOOKS)):
        if made == expected:
            break
        await asyncio.sleep(_BETWEEN_LOOKS)
        made, expected = await _made(connection), await _expected(connection)
    return made, expected


async def _made(connection: Connection) -> set[Made]:
    pods, _ = await connection.items(_PODS)
    return {_seen(objects.decode_pod(each)) for each in pods}


def _seen(pod: Pod) -> Made:
    # The controller's pods name their node by affinity; the template's own fields make way for it.
    affinity = pod.wanted_nodes.affinity
    assert affinity is not None
    fields = [term.match_fields for term in affinity.node_selector_terms or ()]
    node = next(each.values[0] for each in fields[0] or () if each.values)
    controller = pod.metadata.controller
    assert controller is not None
    return _of(pod, daemon_set=controller.name, node=node)


async def _expected(connection: Connection) -> set[Made]:
    listed_nodes, _ = await connection.items("/api/v1/nodes")
    listed_sets, _ = await connection.items(_SETS)
    nodes = [objects.decode_node(each) for each in listed_nodes]
    sets = [objects.decode_daemon_set(each) for each in listed_sets]
    return {
        _of_one(each, node) for each in sets for node in nodes if daemonsets.runs_on(each, node)
    }


def _of_one(daemon_set: DaemonSet, node: Node) -> Made:
    (pod,) = daemonsets.daemon_pods(node, [daemon_set])
    return _of(pod, daemon_set=daemon_set.metadata.name, node=node.name)


def _of(pod: Pod, *, daemon_set: str, node: str) -> Made:
    return Made(
        daemon_set=daemon_set,
        node=node,
        requests=frozenset(item for item in pod.requests.amounts.items() if item[1]),
        host_ports=frozenset(pod.host_ports),
        tolerations=frozenset(pod.spec.tolerations),
    )


def _daemon_set(actor: Case) -> Manifest:
    """A DaemonSet of the offered pod. No scheduler takes its pods, so none of them fails."""
    name = actor.pod["metadata"]["name"]
    labels = {**actor.pod["metadata"]["labels"], "set": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"set": name}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {**actor.pod["spec"], "schedulerName": "nobody"},
            },
        },
    }


def _name(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name
