"""Puts cases in place in a real control plane, and takes them away again.

Only the namespaces and the priority class stay: the next cases use them again.

A node is created with its status; the taint `not-ready`, which admission adds at creation, is
written away at once instead of waiting for the node controller. Pods that stand on nodes are
created with their node's name: no scheduler sees them as pending, no kubelet ever as its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from typing import TYPE_CHECKING

import msgspec

from tests.differential import manifests
from tests.differential.connection import Refused
from tests.differential.manifests import NAMESPACES, PRIORITY_CLASS
from tests.live import IN_TIME

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator

    from tests.differential.cases import Case, Manifest
    from tests.differential.connection import Connection

PATHS = {
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "CSINode": "/apis/storage.k8s.io/v1/csinodes",
    "VolumeAttachment": "/apis/storage.k8s.io/v1/volumeattachments",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{}/pods",
}
"""In the order of creation: each kind may need those before it."""
_AT_ONCE = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
_HOLD = "differential.test/hold"
"""A finalizer: a pod that terminates must not be gone before the offer."""


def path_of(manifest: Manifest) -> str:
    """Where the object is."""
    metadata = manifest["metadata"]
    return f"{_folder_of(manifest)}/{metadata['name']}"


async def prepare(connection: Connection, places: int) -> None:
    """The namespaces of all places, and the priority that keeps the scheduler from preempting."""
    never = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": PRIORITY_CLASS},
        "value": 0,
        "preemptionPolicy": "Never",
    }
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    names = [name.replace("@", str(place)) for place in range(places) for name in NAMESPACES]
    await asyncio.gather(
        _unless_there(connection, path, never), *(_namespace(connection, name) for name in names)
    )
    await _until_known(connection, names[0])


async def _until_known(connection: Connection, namespace: str) -> None:
    """Admission refuses a pod whose priority class it has not read yet."""
    rehearsed = f"{PATHS['Pod'].format(namespace)}?dryRun=All"
    tried = manifests.pod("tried", namespace=namespace, labels={})

    async def is_admitted() -> bool:
        try:
            await connection.create(rehearsed, tried)
        except Refused as refusal:
            if refusal.status != 403:
                raise
            return False
        return True

    async with asyncio.timeout(IN_TIME):
        while not await is_admitted():  # noqa: ASYNC110 - nothing tells when it is read
            await asyncio.sleep(0.05)


async def put_in_place(connection: Connection, case: Case) -> None:
    """Everything but the offered pod; kind after kind, each kind's objects all at once.

    Pods come before their nodes: what simulates kubelets, if there is any, begins with a pod when
    both are there, and finds pods that are finished or held already.
    """
    for kind in ("RuntimeClass", "StorageClass", "CSINode", "VolumeAttachment"):
        await _each(add(connection, manifest) for manifest in _of(case.objects, kind))
    claims = _of(case.objects, "PersistentVolumeClaim")
    made = await _each(_claim(connection, claim) for claim in claims)
    uids = {_key(claim["metadata"]): claim["metadata"]["uid"] for claim in made}
    volumes = _of(case.objects, "PersistentVolume")
    await _each(_volume(connection, volume, uids) for volume in volumes)
    await _each(_stand(connection, pod) for pod in _of(case.objects, "Pod"))
    await _each(add(connection, node) for node in _of(case.objects, "Node"))
    # Last, as a claim that says it is bound to an unknown volume is lost to the volume controller.
    await _each(_bind(connection, claim) for claim in claims)


async def offer(connection: Connection, pod: Manifest) -> bytes:
    """Creates the pod; as the API server keeps it, with all defaults."""
    return await connection.create(_folder_of(pod), pod)


async def clear(connection: Connection, case: Case) -> None:
    """Pods first, then all else."""
    objects = (*case.objects, case.pod)
    for kind in reversed(PATHS):
        await _each(_remove(connection, manifest) for manifest in _of(objects, kind))


async def _each(work: Iterable[Coroutine[None, None, Manifest]]) -> list[Manifest]:
    return await asyncio.gather(*work)


def _of(objects: Iterable[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in objects if manifest["kind"] == kind]


def _folder_of(manifest: Manifest) -> str:
    return PATHS[manifest["kind"]].format(manifest["metadata"].get("namespace"))


def _key(reference: Manifest) -> str:
    return f"{reference['namespace']}/{reference['name']}"


async def add(connection: Connection, manifest: Manifest) -> Manifest:
    """Creates an object, a node with exactly its own taints."""
    made: Manifest = msgspec.json.decode(await connection.create(_folder_of(manifest), manifest))
    if manifest["kind"] == "Node":
        changes = {"spec": {"taints": manifest["spec"].get("taints") or None}}
        await connection.patch(path_of(manifest), changes)
    return made


async def _claim(connection: Connection, claim: Manifest) -> Manifest:
    """Not yet said to be bound: its volume, which must name its uid, can't be there yet."""
    if "volumeName" not in claim["spec"]:
        return await add(connection, claim)
    unbound = copy.deepcopy(claim)
    unbound["metadata"].pop("annotations", None)
    return await add(connection, unbound)


async def _volume(connection: Connection, volume: Manifest, claims: dict[str, str]) -> Manifest:
    """With its status; one that is bound names its claim's uid, one that is reserved does not."""
    reference = volume["spec"].get("claimRef")
    spec = dict(volume["spec"])
    if reference and "status" not in volume:
        spec["claimRef"] = {**reference, "uid": claims.get(_key(reference), "")}
    await add(connection, {**volume, "spec": spec})
    if "status" in volume:
        await connection.patch(f"{path_of(volume)}/status", {"status": volume["status"]})
    return volume


async def _bind(connection: Connection, claim: Manifest) -> Manifest:
    if "volumeName" in claim["spec"]:
        annotations = claim["metadata"].get("annotations")
        await connection.patch(path_of(claim), {"metadata": {"annotations": annotations}})
    return claim


async def _stand(connection: Connection, pod: Manifest) -> Manifest:
    """A pod on its node, with its status, and terminating if it says so."""
    leaving = "deletionTimestamp" in pod["metadata"]
    metadata = {key: at for key, at in pod["metadata"].items() if key != "deletionTimestamp"}
    if leaving:
        metadata["finalizers"] = [_HOLD]
    await add(connection, {**pod, "metadata": metadata})
    if "status" in pod:
        await connection.patch(f"{path_of(pod)}/status", {"status": pod["status"]})
    if leaving:
        await connection.delete(path_of(pod), {"gracePeriodSeconds": 3600})
    return pod


async def _remove(connection: Connection, manifest: Manifest) -> Manifest:
    """Deletes, and takes off the finalizers that guard volumes and hold pods that terminate."""
    await connection.delete(path_of(manifest), _AT_ONCE)
    held = "deletionTimestamp" in manifest["metadata"]
    if held or manifest["kind"] in {"PersistentVolume", "PersistentVolumeClaim"}:
        with _unless(404):
            await connection.patch(path_of(manifest), {"metadata": {"finalizers": None}})
    return manifest


async def _namespace(connection: Connection, name: str) -> None:
    """With the account that every pod needs: its controller may take a while."""
    team = name.partition("-")[0]
    labels = {} if team == "plain" else {"team": team}
    metadata = {"name": name, "labels": labels}
    await _unless_there(
        connection,
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata},
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await _unless_there(connection, f"/api/v1/namespaces/{name}/serviceaccounts", account)


async def _unless_there(connection: Connection, path: str, manifest: Manifest) -> None:
    with _unless(409):
        await connection.create(path, manifest)


@contextlib.contextmanager
def _unless(status: int) -> Iterator[None]:
    """This answer is as good as success: what was wanted is so already."""
    try:
        yield
    except Refused as refusal:
        if refusal.status != status:
            raise
