"""Finds the object that a name on the command line refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.cli.cluster.names import SHOWN, name_meant, unknown
from growth.cli.terminal.texts import first_few
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool
    from growth.api.noderecord import NodeRecord
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.cli.cluster.survey import Survey
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

    NodeOrWhatTellsOfIt = Node | NodeRequest | NodeRemovalRequest | NodeRecord

DEFAULT_NAMESPACE: Final = "default"


def pod_named(name: str, namespace: str | None, seen: Survey) -> Pod:
    """The pod; without a namespace, the one in `default` or else the only one of that name."""
    within, _, bare = name.rpartition("/")
    pods = {pod.name: pod for pod in _all_pods(seen)}
    wanted = namespace or within
    if wanted:
        found = pods.get(f"{wanted}/{bare}")
        if found is None:
            raise unknown(f"{wanted}/{bare}", pods, kind="pod")
        return found
    if (near := pods.get(f"{DEFAULT_NAMESPACE}/{bare}")) is not None:
        return near
    several = sorted(each for each in pods if each.endswith(f"/{bare}"))
    if len(several) > 1:
        places = first_few(several, most=SHOWN)
        raise Misconfigured(f'"{bare}" matches {len(several)} pods: {places}')
    if not several:
        raise unknown(bare, (each.rpartition("/")[2] for each in pods), kind="pod")
    return pods[several[0]]


def node_named(name: str, seen: Survey) -> NodeOrWhatTellsOfIt:
    """The node, request, removal or record with this name or unique part of a name."""
    scene = seen.scene
    there: dict[str, NodeOrWhatTellsOfIt] = {
        **seen.records,
        **scene.removals,
        **scene.requests,
        **scene.cluster.nodes,
    }
    return there[name_meant(name, there, kind="node")]


def pool_named(name: str, seen: Survey) -> NodePool:
    """The pool."""
    if name not in seen.pools:
        raise unknown(name, seen.pools, kind="pool")
    return seen.pools[name]


def _all_pods(seen: Survey) -> Iterable[Pod]:
    yield from seen.pending
    yield from seen.ended
    for held in seen.scene.cluster.occupancies.values():
        yield from held.pods
