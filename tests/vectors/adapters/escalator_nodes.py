"""Escalator's nodes and pods: classes, order, marks, health, and which pods count."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec

from growth.api.escalator_groups import EscalatorGroup
from growth.api.nodepool import PoolMode
from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from growth.keeping.marks import is_tainted, pool_of_node
from growth.scheduling.resources import total
from reconciler.facts.marks import marked, unmarked
from reconciler.scaling.utilisation.deciding import used_again
from reconciler.scaling.utilisation.health import HealthCheck
from reconciler.scaling.utilisation.marks import tainted_at
from reconciler.scaling.utilisation.nodes import (
    GroupNode,
    RememberedMarks,
    newest_first,
    node_classes_of,
    oldest_first,
)
from reconciler.scaling.utilisation.pods import demand_of_pods, selected_values, selects_nothing
from tests.reconciler.build import at, pool, world
from tests.scheduling import build
from tests.vectors.escalating import START, nodes_of, span
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from tests.vectors.rows import Json

TAINT = "growth.dev/scale-down"
DAEMON = {"kind": "DaemonSet", "name": "owner", "uid": "1", "controller": True}


def _names(nodes: Iterable[GroupNode]) -> list[str]:
    return [node.name for node in nodes]


@adapts("filter_nodes", system="escalator")
def filter_nodes(given: Json) -> Json:
    trackers = (frozenset(given.get(f"{kind}taint_tracker", ())) for kind in ("", "force_"))
    remembered = RememberedMarks(*trackers) if given["dry"] else None
    classes = node_classes_of(nodes_of(given["nodes"]), remembered)
    found = {name: _names(nodes) for name, nodes in classes._asdict().items()}
    return found | {"force_tainted": found["forced"]}


@adapts("dry_mode", system="escalator")
def dry_mode(given: Json) -> Json:
    """Dry mode is growth's mode Observe, of the installation or of the pool."""
    modes = {True: PoolMode.OBSERVE, False: PoolMode.ACT}
    seen = world(pool(mode=modes[given["group_dry_mode"]].value))
    seen = msgspec.structs.replace(seen, mode=modes[given["global_drymode"]])
    return {"dry": seen.only_observes("default")}


@adapts("taint_oldest", system="escalator")
def taint_oldest(given: Json) -> Json:
    nodes = nodes_of(given["nodes"])
    return _in_order(_names(oldest_first(nodes)[: given["n"]]), nodes)


@adapts("untaint_newest", system="escalator")
def untaint_newest(given: Json) -> Json:
    nodes = nodes_of(given["nodes"], tainted_at=START)
    grace = given["unhealthy_node_grace_period"]
    health = HealthCheck(grace=span(grace)) if grace else None
    return _in_order(used_again(nodes, number=given["n"], health=health, now=START), nodes)


def _in_order(names: Sequence[str], nodes: Sequence[GroupNode]) -> Json:
    places = {node.name: place for place, node in enumerate(nodes)}
    return {"names": list(names), "indexes": [places[name] for name in names]}


@adapts("taint_instances", system="escalator")
def taint_instances(given: Json) -> Json:
    names = _names(oldest_first(nodes_of(given["nodes"]))[: given["max"]])
    remembered = RememberedMarks(tainted=frozenset(names if given["dry"] else ()))
    return {"names": names, "tracker_length": len(remembered.tainted)}


@adapts("sort", system="escalator")
def sort(given: Json) -> Json:
    created = list(given["created"])
    if given.get("shuffle"):
        random.Random(1).shuffle(created)
    nodes = nodes_of({"created": each, "name": f"node-{n}"} for n, each in enumerate(created))
    is_rising = given["created"] == sorted(given["created"], key=_years)
    ordered = oldest_first(nodes) if is_rising else newest_first(nodes)
    return {"order": [node.created for node in ordered]}


def _years(created: str) -> int:
    """Which end of the row's own order is the older one."""
    return int(created[:4])


@adapts("health_sort", system="escalator")
def health_sort(given: Json) -> Json:
    return {"names": _names(newest_first(nodes_of(given["nodes"])))}


def _check(given: Json) -> HealthCheck:
    return HealthCheck(
        grace=span(given.get("grace") or f"{given.get('grace_minutes', 0)}m"),
        newest_percent=given.get("newest_percent") or given.get("percent", 100),
        most_unhealthy_percent=given.get("max_unhealthy_percent", 0),
    )


@adapts("health_too_new", system="escalator")
def health_too_new(given: Json) -> Json:
    check = _check(given)
    return {"names": [n.name for n in nodes_of(given["nodes"]) if check.is_old_enough(n, START)]}


@adapts("health_most_recent", system="escalator")
def health_most_recent(given: Json) -> Json:
    return {"names": _names(_check(given).newest(nodes_of(given["nodes"])))}


@adapts("health_count", system="escalator")
def health_count(given: Json) -> Json:
    return {"count": len(_unhealthy(given))}


@adapts("health_taint", system="escalator")
def health_taint(given: Json) -> Json:
    return {"names": _unhealthy(given)}


def _unhealthy(given: Json) -> list[str]:
    check = _check(given)
    return [n.name for n in nodes_of(given["nodes"]) if check.is_unhealthy(n, START)]


@adapts("health_group", system="escalator")
def health_group(given: Json) -> Json:
    nodes = nodes_of(
        {"age_minutes": given["age_minutes"], "ready": number >= given["unhealthy"]}
        for number in range(given["total"])
    )
    return {"healthy": _check(given).is_passed(nodes, START)}


@adapts("pod_in_group", system="escalator")
def pod_in_group(given: Json) -> Json:
    pod = _pod(given["pod"])
    return {"match": given["label_value"] in selected_values(pod, key=given["label_key"])}


@adapts("pod_in_default_group", system="escalator")
def pod_in_default_group(given: Json) -> Json:
    return {"match": selects_nothing(_pod(given["pod"]))}


def _pod(given: Json) -> Pod:
    metadata: Json = {"annotations": given.get("annotations", {})}
    if given.get("owner") == "DaemonSet":
        metadata["ownerReferences"] = [DAEMON]
    spec: Json = {"nodeSelector": given.get("node_selector") or {}}
    if (term := given.get("required_node_affinity")) is not None:
        expression = {"key": term["key"], "operator": term["op"], "values": term["values"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        spec["affinity"] = {"nodeAffinity": {required: terms}}
    return build.pod(metadata=metadata, **spec)


@adapts("node_in_group", system="escalator")
def node_in_group(given: Json) -> Json:
    """The label of a group is that of a pool, which needs the mark of growth beside it."""
    labels = {
        POOL_LABEL if key == given["label_key"] else key: value
        for key, value in given["node_labels"].items()
    }
    node = build.node(labels=labels | {MANAGED_BY_LABEL: MANAGED_BY})
    return {"match": pool_of_node(node) == given["label_value"]}


@adapts("pod_requests", system="escalator")
def pod_requests(given: Json) -> Json:
    asked = demand_of_pods(map(_asking, given["pods"])).requests
    return {"cpu_milli": asked["cpu"], "mem": asked["memory"]}


def _asking(given: Json) -> Pod:
    overhead = {"cpu": f"{given.get('cpu_overhead', 0)}m", "memory": given.get("mem_overhead", 0)}
    return build.pod(
        containers=_containers(given["cpu"], given["mem"], "c"),
        initContainers=_containers(given.get("init_cpu", ()), given.get("init_mem", ()), "i"),
        overhead={name: str(amount) for name, amount in overhead.items()},
    )


def _containers(cpu: Sequence[int], memory: Sequence[int], name: str) -> list[Json]:
    return [
        build.container(f"{name}{n}", requests={"cpu": f"{each[0]}m", "memory": str(each[1])})
        for n, each in enumerate(zip(cpu, memory, strict=True))
    ]


@adapts("node_capacity", system="escalator")
def node_capacity(given: Json) -> Json:
    nodes = [
        build.node(f"node-{n}", cpu=f"{each['cpu_milli']}m", memory=str(each["mem"]))
        for n, each in enumerate(given["nodes"])
    ]
    have = total(node.allocatable for node in nodes)
    return {"cpu_milli": have["cpu"], "mem": have["memory"]}


@adapts("node_empty", system="escalator")
def node_empty(given: Json) -> Json:
    is_known = given["node_known"]
    pods = [
        build.pod(f"pod-{n}", on="one", metadata=_owned(each))
        for n, each in enumerate(given["pods"])
    ]
    nodes: list[Node] = [build.node("one")] if is_known else []
    cluster = build.cluster(*nodes, *pods)
    keepers = cluster.occupancy("one").keepers if "one" in cluster.nodes else ()
    return {
        "empty": is_known and not keepers,
        "pods_remaining": len(keepers),
        "known": "one" in cluster.nodes,
    }


def _owned(given: Json) -> Json:
    return {"ownerReferences": [DAEMON]} if given.get("owner") == "DaemonSet" else {}


@adapts("node_pod_map", system="escalator")
def node_pod_map(given: Json) -> Json:
    pods = [build.pod(f"pod-{n}", on=name) for n, name in enumerate(given["pod_nodes"])]
    cluster = build.cluster(*map(build.node, given["nodes"]), *pods)
    known = {name: cluster.occupancy(name).pods for name in cluster.nodes}
    return {"entries": len(known), "pods": sum(map(len, known.values()))}


@adapts("taint", system="escalator")
def taint(given: Json) -> Json:
    """The key is growth's own (C3)."""
    if given.get("read_time"):
        return _read_back(given)
    is_tainted_before = given.get("already") or given.get("remove", False)
    before = _with_taint("1700000000") if is_tainted_before else build.node()
    if given.get("remove"):
        after = unmarked(before).taints or ()
        return {"tainted": bool(after), "updated": is_tainted(before)}
    effect = EscalatorGroup(taint_effect=given["effect"]).effect
    (written,) = marked(before, at(0), seconds=1, effect=effect).taints or ()
    return {"effect": written.effect, "updated": not is_tainted(before)}


def _with_taint(value: str) -> Node:
    return build.node(taints=[{"key": TAINT, "effect": "NoSchedule", "value": value}])


def _read_back(given: Json) -> Json:
    now = at(0)
    if given["taint"] is None:
        return {"time": tainted_at(build.node()), "error": False}
    (written,) = marked(build.node(), now, seconds=1).taints or ()
    is_now = given["taint"] == "now"
    read = tainted_at(_with_taint(written.value if is_now else str(given["taint"])))
    if read is None:
        return {"time": None, "error": True}
    return {"age_seconds": now.seconds_since(read), "error": False}
