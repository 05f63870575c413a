"""VPSie: pods, what they request, and which nodes and groups they may use."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from growth.demand.detection import PodProgress, standing
from growth.scheduling import pod_affinity
from growth.scheduling.emptiness import keepers
from growth.scheduling.node_affinity import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    wanted_nodes,
)
from growth.scheduling.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    Resources,
    parse_resources,
    shown_amount,
)
from growth.scheduling.selectors import Requirement
from growth.scheduling.taints import Taint, Toleration
from reconciler.scaling.desired.constraints import constraint_in
from reconciler.scaling.desired.counting import SizeCounts, raised_count
from reconciler.scaling.desired.matching import PodGroup, match_score, pods_by_group
from reconciler.scaling.desired.safety import (
    has_local_storage,
    is_control_plane_pod,
    is_system_critical,
)
from reconciler.scaling.desired.sizing import Deficit, deficit_of, nodes_needed
from tests.scheduling import build
from tests.vectors.answers import SameAmount
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from tests.vectors.rows import Json

VPSIE = "vpsie"
PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
FORMS: dict[str, Json] = {
    "hostPath": {"path": "/data"},
    "persistentVolumeClaim": {"claimName": "data"},
}
"""Sources of volumes that a row only names; all others are empty."""


def volumes_in(rows: Any) -> list[Json]:
    """Volumes, each by its kind alone or with its source."""
    sources = [
        {each: FORMS.get(each, {})} if isinstance(each, str) else each for each in rows or ()
    ]
    return [{"name": f"v{number}", **source} for number, source in enumerate(sources)]


def room_in(row: Json) -> Resources:
    """The size of a machine."""
    sizes = {
        CPU: int(Fraction(str(row["cpu"])) * 1000),
        MEMORY: int(row["mem_mb"]) << 20,
        PODS: row.get("max_pods", 110),
    }
    return Resources(sizes | {EPHEMERAL_STORAGE: int(row.get("disk_gb", 0)) * 10**9})


def deficit_in(pods: int, **amounts: str) -> Deficit:
    """What so many pods request together."""
    return Deficit(requests=parse_resources(amounts), pods=pods)


def owners_in(kinds: list[str]) -> list[Json]:
    """Owners of a pod, of which one is the controller: a DaemonSet always is, of its pods."""
    controller = "DaemonSet" if "DaemonSet" in kinds else next(iter(kinds), "")
    return [
        {"kind": kind, "name": kind, "uid": kind, "controller": kind == controller}
        for kind in kinds
    ]


def pod_in(row: Json, **spec: Any) -> Pod:
    """A pod by what rows say of pods."""
    metadata: Json = {"annotations": row.get("annotations") or {}}
    kinds = row.get("owners") or ([row["owner"]] if row.get("owner") else [])
    metadata["ownerReferences"] = owners_in(kinds)
    if row.get("deleting"):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    requests = {CPU: row.get("cpu"), MEMORY: row.get("mem")}
    return build.pod(
        row.get("name", "web-0"),
        namespace=row.get("namespace", "shop"),
        metadata=metadata,
        requests={name: amount for name, amount in requests.items() if amount},
        status={"phase": row.get("phase", "Running")},
        **({"volumes": volumes_in(row.get("volumes")), "on": row.get("node", "")} | spec),
    )


@adapts("pods_to_evict", system=VPSIE)
def pods_to_evict(given: Json) -> Json:
    return {"names": [pod.metadata.name for pod in keepers(map(pod_in, given["pods"]))]}


@adapts("static_pod", system=VPSIE)
def static_pod(given: Json) -> Json:
    return {"static": pod_in(given).is_static}


@adapts("daemonset_pod", system=VPSIE)
def daemonset_pod(given: Json) -> Json:
    return {"daemonset": pod_in(given).is_of_daemon_set}


@adapts("pending_pods", system=VPSIE)
def pending_pods(given: Json) -> Json:
    pods = map(pod_in, given["pods"])
    waiting = [pod for pod in pods if standing(pod) is not PodProgress.APART]
    return {"names": [pod.metadata.name for pod in waiting]}


@adapts("local_storage", system=VPSIE)
def local_storage(given: Json) -> Json:
    return {"local": has_local_storage(pod_in(given))}


@adapts("has_pvc", system=VPSIE)
def has_claim(given: Json) -> Json:
    return {"has": bool(pod_in(given).claims)}


@adapts("system_critical", system=VPSIE)
def system_critical(given: Json) -> Json:
    """The API server writes the priority of a pod's class into the pod."""
    priority = given.get("priority") or PRIORITIES.get(given.get("priority_class") or "", 0)
    return {"critical": is_system_critical(build.pod(priority=priority))}


@adapts("unique_system_pod", system=VPSIE)
def unique_system_pod(given: Json) -> Json:
    return {"unique": is_control_plane_pod(pod_in(given))}


@adapts("pod_resources", system=VPSIE)
def pod_resources(given: Json) -> Json:
    containers, first = (
        [build.container(f"c{at}", requests={CPU: cpu, MEMORY: mem}) for at, (cpu, mem) in each]
        for each in (enumerate(given["containers"]), enumerate(given.get("init_containers") or ()))
    )
    pod = build.pod(containers=containers, initContainers=first)
    return _amounts(pod.requests)


@adapts("deficit", system=VPSIE)
def deficit(given: Json) -> Json:
    pods = {
        name: build.pod(name, requests={CPU: cpu, MEMORY: mem})
        for name, (cpu, mem) in given["pods"].items()
    }
    found = deficit_of(pods[name] for name in given["events"])
    return _amounts(found.requests) | {"pods": found.pods}


def _amounts(resources: Resources) -> Json:
    return {
        "cpu": SameAmount(shown_amount(CPU, resources[CPU])),
        "mem": SameAmount(str(resources[MEMORY])),
    }


@adapts("nodes_needed", system=VPSIE)
def needed(given: Json) -> Json:
    amounts = {"cpu": f"{given['cpu_milli']}m", "memory": f"{given['mem_gi']}Gi"}
    wanted = deficit_in(given["pods"], **amounts)
    return {"nodes": nodes_needed(wanted, room_in(given["instance"]))}


@adapts("scheduling_constraint", system=VPSIE)
def scheduling_constraint(given: Json) -> Json:
    return {"constraint": constraint_in(given["message"]).value}


@adapts("node_selector", system=VPSIE)
def node_selector(given: Json) -> Json:
    wanted = wanted_nodes(given["selector"] or {}, None)
    return {"match": wanted.matches("one", given["node_labels"] or {})}


@adapts("selector_requirement", system=VPSIE)
def selector_requirement(given: Json) -> Json:
    return {"match": _requirement(given).matches(given["node_labels"] or {})}


@adapts("selector_terms", system=VPSIE)
def selector_terms(given: Json) -> Json:
    """Without terms, the pod has no affinity."""
    terms = tuple(NodeSelectorTerm(tuple(map(_requirement, term))) for term in given["terms"])
    affinity = NodeAffinity(NodeSelector(terms)) if terms else None
    return {"match": wanted_nodes({}, affinity).matches("one", given["node_labels"] or {})}


def _requirement(row: Json) -> Requirement:
    return Requirement(row["key"], row["operator"], tuple(row.get("values") or ()))


def _toleration(row: Json) -> Toleration:
    return Toleration(
        row.get("key") or "", row.get("op") or "", row.get("value") or "", row.get("effect") or ""
    )


def _taint(row: Json) -> Taint:
    return Taint(row["key"], row["effect"], row.get("value") or "")


@adapts("toleration", system=VPSIE)
def toleration(given: Json) -> Json:
    taint = _taint(given["taint"])
    return {"tolerated": any(_toleration(each).tolerates(taint) for each in given["tolerations"])}


@adapts("pod_affinity_term", system=VPSIE)
def pod_affinity_term(given: Json) -> Json:
    selector = None if given.get("selector") is None else {"matchLabels": given["selector"]}
    if given.get("match_expressions"):
        selector = {"matchExpressions": given["match_expressions"]}
    term = {"topologyKey": given["topology"], "labelSelector": selector}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    nodes = {name: build.node(name) for name in (given["existing_node"], given["node"])}
    there = build.pod("there", labels=given["existing_labels"], on=given["existing_node"])
    cluster = build.cluster(*nodes.values(), there)
    wanting = build.pod("wanting", affinity={"podAffinity": required})
    rejected = pod_affinity.rejection(wanting, nodes[given["node"]], cluster)
    return {"match": rejected is None}


@adapts("pod_matches_group", system=VPSIE)
def pod_matches_group(given: Json) -> Json:
    group = PodGroup(
        name="one",
        labels=given["group_labels"] or {},
        taints=tuple(map(_taint, given.get("group_taints") or ())),
    )
    tolerations = [
        {("operator" if key == "op" else key): value for key, value in each.items()}
        for each in given.get("tolerations") or ()
    ]
    pod = build.pod(nodeSelector=given["selector"] or {}, tolerations=tolerations)
    return {"match": group.serves(pod)}


def _in_environment(name: str) -> Json:
    return {"env": name}


@adapts("matching_groups", system=VPSIE)
def matching_groups(given: Json) -> Json:
    pods = [
        build.pod(f"web-{number}", nodeSelector=_in_environment(each))
        for number, each in enumerate(given["pod_env"])
    ]
    groups = [
        PodGroup(name=f"group-{number}", labels=_in_environment(each))
        for number, each in enumerate(given["group_env"])
    ]
    return {"matches": len(pods_by_group(pods, groups))}


@adapts("match_score", system=VPSIE)
def score(given: Json) -> Json:
    found = match_score(
        pods=given["pods"],
        desired=given["desired"],
        most=given["max"],
        has_preference=given["preferred"],
    )
    return {"score": found, "formula_score": found}


@adapts("scale_up_flow", system=VPSIE)
def scale_up_flow(given: Json) -> Json:
    """From pending pods to the group's desired number; each pod needs less than one node."""
    desired = given.get("desired", 1)
    pods = [
        build.pod(f"web-{number}", nodeSelector=_in_environment(given["pod_env"]))
        for number in range(given.get("pending", 1))
    ]
    group = PodGroup(name="one", labels=_in_environment(given.get("group_env", "")))
    served = pods_by_group(pods, [group]).get(group.name, ())
    raised = raised_count(
        SizeCounts(current=desired, desired=desired),
        ready=desired,
        needed=nodes_needed(deficit_of(served), room_in({"cpu": 4, "mem_mb": 8192})),
        batch=1,
        cools=False,
    )
    return {"desired_after": desired if raised is None else raised, "scaled": raised is not None}
