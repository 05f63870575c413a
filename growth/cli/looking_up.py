"""Which object is meant by a name on the command line, and what was said on it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.cli.story import OURS, Said
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.cli.lists import Lists
    from growth.cli.survey import Survey
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

EVENTS: Final = "/api/v1/events"
DEFAULT_NAMESPACE: Final = "default"


def pod_named(name: str, namespace: str | None, seen: Survey) -> Pod:
    """The pod; without a namespace the one in `default`, else the only one of that name."""
    within, _, bare = name.rpartition("/")
    pods = {pod.name: pod for pod in _all_pods(seen)}
    wanted = namespace or within
    if wanted:
        found = pods.get(f"{wanted}/{bare}")
        return found if found is not None else _missing("Pod", f"{wanted}/{bare}", pods)
    if (near := pods.get(f"{DEFAULT_NAMESPACE}/{bare}")) is not None:
        return near
    several = sorted(each for each in pods if each.endswith(f"/{bare}"))
    if len(several) > 1:
        raise Misconfigured(f'there are several Pods "{bare}": {", ".join(several[:5])}')
    return pods[several[0]] if several else _missing("Pod", bare, pods)


def node_named(name: str, seen: Survey) -> Node | NodeRequest:
    """The node, or what is requested under that name.

    The beginning of a node's name is enough, as it ends with a long number.
    """
    nodes = seen.scene.cluster.nodes
    if name in nodes:
        return nodes[name]
    if name in seen.scene.requests:
        return seen.scene.requests[name]
    several = sorted(each for each in nodes if each.startswith(name))
    if len(several) > 1:
        raise Misconfigured(f'several Nodes begin with "{name}": {", ".join(several[:5])}')
    return nodes[several[0]] if several else _missing("Node", name, nodes)


def pool_named(name: str, seen: Survey) -> NodePool:
    """The pool."""
    return seen.pools[name] if name in seen.pools else _missing("NodePool", name, seen.pools)


async def said_on(
    lists: Lists, kind: str, name: str, *, namespace: str = "", uid: str = ""
) -> tuple[Said, ...]:
    """The events on an object, the newest last."""
    fields = [f"involvedObject.kind={kind}", f"involvedObject.name={name}"]
    if namespace:
        fields.append(f"involvedObject.namespace={namespace}")
    query = {"fieldSelector": ",".join(fields), "limit": "200"}
    answer = await lists.connection.request("GET", EVENTS, query=query)
    found = [
        _said(each)
        for each in answer.json()["items"]
        if not uid or each["involvedObject"].get("uid", uid) == uid
    ]
    return tuple(sorted(found, key=lambda each: each.at))


async def said_by_growth(lists: Lists) -> dict[str, list[Said]]:
    """All events of growth, by the kind of object that they are on."""
    events = await lists.all_of(EVENTS, msgspec.json.decode)
    found: dict[str, list[Said]] = {}
    for event in events:
        said = _said(event)
        if said.source.startswith(OURS):
            found.setdefault(event["involvedObject"].get("kind", ""), []).append(said)
    return found


def _said(event: Mapping[str, Any]) -> Said:
    series, source = event.get("series") or {}, event.get("source") or {}
    at = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return Said(
        at=at or event["metadata"].get("creationTimestamp") or "",
        reason=event.get("reason") or "",
        note=" ".join((event.get("message") or "").split()),
        source=event.get("reportingComponent") or source.get("component") or "",
    )


def _all_pods(seen: Survey) -> Iterable[Pod]:
    yield from seen.pending
    yield from seen.ended
    for held in seen.scene.cluster.occupancies.values():
        yield from held.pods


def _missing(kind: str, name: str, known: Iterable[str]) -> Any:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    meant = f"; like it: {', '.join(near)}" if near else ""
    raise Misconfigured(f'there is no {kind} "{name}"{meant}')
