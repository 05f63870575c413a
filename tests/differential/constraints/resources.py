"""Requests of every form, with the nodes set exactly on the edge of taking the pod or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential import manifests, sums
from tests.differential.drafts import existing_pod, one_in

if TYPE_CHECKING:
    from tests.differential.cases import Manifest
    from tests.differential.drafts import Draft

MEBI = 1 << 20
DEVICE = "~.test/device"
HUGE = "hugepages-2Mi"
AMOUNTS = {
    "cpu": (0, 1, 100, 250, 500, 999, 1000, 1500),
    "memory": (0, 1, 1000, MEBI, 100_000_000, 128 * MEBI, 1 << 30),
    "ephemeral-storage": (1, MEBI, 1_000_000, 1 << 30),
    DEVICE: (1, 2, 3),
    HUGE: (2 * MEBI, 4 * MEBI, 8 * MEBI),
}
_PARTS = ("0.1Gi", "0.3Gi", "1400m", "1000.2", "1.5")
_BELOW_ON_OR_ABOVE = (-1, -1, -1, 0, 0, 0, 1)
_SUFFIXES = (("k", 10**3), ("M", 10**6), ("Ki", 1 << 10), ("Mi", MEBI), ("Gi", 1 << 30))


def requests(draw: st.DrawFn, draft: Draft) -> None:
    _ask(draw, draft.pod, ("cpu", "memory"), containers=draw(st.integers(1, 3)))
    _crowd(draw, draft, ("cpu", "memory"))
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def parts_of_bytes(draw: st.DrawFn, draft: Draft) -> None:
    """A tenth of a gibibyte is no whole number: sums of such are rounded, not what they are of."""
    resource = draw(st.sampled_from(("memory", "ephemeral-storage")))
    for pod in (draft.pod, *draft.existing):
        pod["spec"]["containers"] = [
            manifests.container(f"c{index}", {resource: draw(st.sampled_from(_PARTS))})
            for index in range(draw(st.integers(1, 3)))
        ]
    _edge(draw, draft, resource)


def init_containers(draw: st.DrawFn, draft: Draft) -> None:
    _crowd(draw, draft, ("cpu", "memory"))
    for pod in (draft.pod, *_some(draw, draft.existing)):
        _ask(draw, pod, ("cpu", "memory"), containers=draw(st.integers(1, 2)))
        _ask_little(draw, pod)
        _prepare(draw, pod, always=st.just(value=False))
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def sidecars(draw: st.DrawFn, draft: Draft) -> None:
    _crowd(draw, draft, ("cpu", "memory"))
    for pod in (draft.pod, *_some(draw, draft.existing)):
        _ask(draw, pod, ("cpu", "memory"), containers=1)
        _ask_little(draw, pod)
        _prepare(draw, pod, always=st.booleans())
        if draw(st.booleans()):  # all sidecars run already when the last one starts
            much = {"cpu": "2", "memory": "2Gi"}
            pod["spec"]["initContainers"].append(manifests.container("last", much))
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def pod_level_resources(draw: st.DrawFn, draft: Draft) -> None:
    _crowd(draw, draft, ("cpu",))
    for pod in (draft.pod, *_some(draw, draft.existing)):
        _ask(draw, pod, ("cpu", "memory"), containers=draw(st.integers(1, 2)))
        if draw(st.booleans()):
            _prepare(draw, pod, always=st.booleans())
        side = draw(st.sampled_from(("requests", "requests", "limits")))
        for resource in draw(st.sampled_from((("cpu",), ("memory",), ("cpu", "memory")))):
            amount = sums.asked(pod, resource) + draw(st.sampled_from(AMOUNTS[resource]))
            level = pod["spec"].setdefault("resources", {}).setdefault(side, {})
            level[resource] = sums.written(resource, amount)
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def overhead(draw: st.DrawFn, draft: Draft) -> None:
    fixed = {
        resource: sums.written(resource, draw(st.sampled_from(AMOUNTS[resource][1:])))
        for resource in ("cpu", "memory")
    }
    draft.extras.append(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "runtime-~"},
            "handler": "none",
            "overhead": {"podFixed": fixed},
        }
    )
    _crowd(draw, draft, ("cpu", "memory"))
    for pod in (draft.pod, *_some(draw, draft.existing)):
        pod["spec"].update(runtimeClassName="runtime-~", overhead=fixed)
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def extended_resources(draw: st.DrawFn, draft: Draft) -> None:
    _ask(draw, draft.pod, (DEVICE,), containers=draw(st.integers(1, 2)))
    _crowd(draw, draft, (DEVICE,))
    if one_in(draw, 5):
        return  # no node has ever heard of it
    _edge(draw, draft, DEVICE)


def ephemeral_storage(draw: st.DrawFn, draft: Draft) -> None:
    _ask(draw, draft.pod, ("ephemeral-storage",), containers=draw(st.integers(1, 2)))
    _crowd(draw, draft, ("ephemeral-storage",))
    _edge(draw, draft, "ephemeral-storage")


def huge_pages(draw: st.DrawFn, draft: Draft) -> None:
    _ask(draw, draft.pod, ("cpu", "memory", HUGE), containers=draw(st.integers(1, 2)))
    _crowd(draw, draft, ("cpu", "memory", HUGE))
    _edge(draw, draft, HUGE)


def pod_count(draw: st.DrawFn, draft: Draft) -> None:
    for _ in range(draw(st.integers(0, 3))):
        _onto_open_node(draw, draft, existing_pod(draw))
    _leave(draw, draft)
    _edge(draw, draft, "pods")


def nothing_asked_on_a_full_node(draw: st.DrawFn, draft: Draft) -> None:
    """A node with less than is in use still takes a pod that asks for none of it, or for zero."""
    _crowd(draw, draft, ("cpu", "memory"))
    resource, other = draw(st.permutations(("cpu", "memory")))
    asked = draw(st.sampled_from(({}, {resource: "0"}, {other: "1"}, {resource: "0", other: "1"})))
    draft.pod["spec"]["containers"] = [manifests.container("main", dict(asked))]
    for node in draft.open_nodes:
        _set(node, resource, str(draw(st.sampled_from((0, 1)))))


def resized(draw: st.DrawFn, draft: Draft) -> None:
    """Pods whose resize is under way count with the most of spec, allocated and actual."""
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        pod = existing_pod(draw)
        states = [_drawn(draw, ("cpu", "memory")) for _ in range(3)]
        pod["spec"]["containers"] = [manifests.container("main", states[0])]
        pod["status"] = _resizing(draw, allocated=states[1], actual=states[2])
        _onto_open_node(draw, draft, pod)
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory"))))


def leavers(draw: st.DrawFn, draft: Draft) -> None:
    """Finished pods take no room, pods that are terminating still do."""
    _crowd(draw, draft, ("cpu", "memory"))
    _ask(draw, draft.pod, ("cpu", "memory"), containers=1)
    _leave(draw, draft)
    _edge(draw, draft, draw(st.sampled_from(("cpu", "memory", "pods"))))


def leave(draw: st.DrawFn, pod: Manifest) -> None:
    """The pod is finished, or is on its way out, or stays."""
    match draw(st.sampled_from(("stays", "Succeeded", "Failed", "terminating", "terminating"))):
        case "terminating":
            pod["metadata"]["deletionTimestamp"] = "set when it is deleted"
        case "stays":
            pass
        case phase:
            pod["status"] = {"phase": phase}


def _leave(draw: st.DrawFn, draft: Draft) -> None:
    for pod in draft.existing:
        leave(draw, pod)


def _ask(draw: st.DrawFn, pod: Manifest, resources: tuple[str, ...], *, containers: int) -> None:
    listening = pod["spec"]["containers"][0].get("ports", [])
    pod["spec"]["containers"] = [
        {
            "name": f"c{index}",
            "image": "none.test/none",
            "resources": _resources(draw, _drawn(draw, resources)),
        }
        for index in range(containers)
    ]
    pod["spec"]["containers"][0]["ports"] = listening


def _ask_little(draw: st.DrawFn, pod: Manifest) -> None:
    """Mostly, so that the start of the pod needs more than its run."""
    if draw(st.integers(0, 2)):
        little = {"cpu": "100m", "memory": "1Mi"}
        pod["spec"]["containers"] = [manifests.container("main", little)]


def _prepare(draw: st.DrawFn, pod: Manifest, *, always: st.SearchStrategy[bool]) -> None:
    containers = pod["spec"].setdefault("initContainers", [])
    for _ in range(draw(st.integers(1, 4))):
        container = manifests.container(f"i{len(containers)}", _drawn(draw, ("cpu", "memory")))
        if draw(always):
            container["restartPolicy"] = "Always"
        containers.append(container)


def _resources(draw: st.DrawFn, requests: dict[str, str]) -> Manifest:
    """Requests, or limits that the API server makes requests of; both where it insists."""
    both = {name: text for name, text in requests.items() if "/" in name or name == HUGE}
    if one_in(draw, 4):
        return {"limits": requests}
    return {"requests": requests, "limits": both}


def _drawn(draw: st.DrawFn, resources: tuple[str, ...]) -> dict[str, str]:
    always = {DEVICE, HUGE} | ({"cpu"} if HUGE in resources else set())
    return {
        resource: _spelled(draw, resource, draw(st.sampled_from(AMOUNTS[resource])))
        for resource in resources
        if resource in always or draw(st.integers(0, 5))
    }


def _spelled(draw: st.DrawFn, resource: str, amount: int) -> str:
    """One of the many texts that mean this amount."""
    if resource in {DEVICE, HUGE}:
        return str(amount)
    base = amount / 1000 if resource == "cpu" else amount
    texts = [sums.written(resource, amount), f"{base:.3f}"]
    if resource == "cpu" and amount:
        texts.append(f"{amount * 1000 - 300}u")  # the API server rounds it up
    if resource in {"memory", "ephemeral-storage"} and amount:
        texts += [f"{amount * 1000 - part}m" for part in (600, 800)]  # it rounds the sum
    texts += [f"{amount // size}{end}" for end, size in _SUFFIXES if base and not base % size]
    return draw(st.sampled_from(texts))


def _crowd(draw: st.DrawFn, draft: Draft, resources: tuple[str, ...]) -> None:
    """Pods that take some of it stand on the nodes that matter."""
    for _ in range(draw(st.integers(0, 2))):
        pod = existing_pod(draw)
        _ask(draw, pod, resources, containers=1)
        _onto_open_node(draw, draft, pod)


def _onto_open_node(draw: st.DrawFn, draft: Draft, pod: Manifest) -> None:
    draft.add_existing(pod, draw(st.sampled_from(draft.open_nodes)))


def _some(draw: st.DrawFn, pods: list[Manifest]) -> list[Manifest]:
    return [pod for pod in pods if draw(st.booleans())]


def _edge(draw: st.DrawFn, draft: Draft, resource: str) -> None:
    """Every node that could take the pod has exactly enough, one too little or one to spare."""
    for node in draft.open_nodes:
        standing = [pod for pod in draft.on(node) if sums.counts(pod)]
        needed = sum(sums.occupied(pod, resource) for pod in (*standing, draft.pod))
        amount = max(0, needed + draw(st.sampled_from(_BELOW_ON_OR_ABOVE)))
        _set(node, resource, sums.written(resource, amount))


def _set(node: Manifest, resource: str, quantity: str) -> None:
    for side in ("allocatable", "capacity"):
        node["status"][side][resource] = quantity


def _resizing(draw: st.DrawFn, *, allocated: Manifest, actual: Manifest) -> Manifest:
    status: Manifest = {
        "phase": "Running",
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "image": "none.test/none",
                "imageID": "none",
                "allocatedResources": allocated,
                "resources": {"requests": actual},
            }
        ],
    }
    reason = draw(st.sampled_from(("Infeasible", "Infeasible", "Deferred", None)))
    if reason:
        condition = {"type": "PodResizePending", "status": "True", "reason": reason}
        status["conditions"] = [condition]
    return status
