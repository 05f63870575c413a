"""With the token of the reconciler, a pod is nominated to its machine or ended on it: no more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.deletion_cost import PodDeletionCost
from growth.installation.rendering import rendered
from growth.installation.values import InstallationValues
from growth.kube.call import MERGE_PATCH
from tests.live import wait_until
from tests.manifests.asking import asked, stolen_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

POD: Final = "guarded-waiting"
OURS: Final = "default-0b5e1a52-7a3b-4d0e-9d3c-000000000001"
ONLY_OURS: Final = "only to its own nodes"
NOTHING_ELSE: Final = "nothing of a pod but its nomination"


@pytest.fixture(scope="module")
def stolen(installed: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of somebody who has the reconciler's token, and a pod that fits nowhere."""
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "1k"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": POD},
        "spec": {"schedulerName": "none", "containers": [container]},
    }
    installed.create(pod)
    path = tmp_path_factory.mktemp("stolen") / "kubeconfig"
    stolen = stolen_from(installed, "growth-reconciler", path)
    try:
        wait_until(lambda: ONLY_OURS in written(stolen, nominated("other"), "?dryRun=All"), "it")
        yield stolen
    finally:
        installed.kubectl("delete", "pod", POD, "--grace-period=0", "--force")


def written(stolen: Path, change: dict[str, Any], query: str = "") -> str:
    path = f"/api/v1/namespaces/default/pods/{POD}/status{query}"
    return asked(stolen, "PATCH", path, change, content_type=MERGE_PATCH)


def nominated(node: str, **status: Any) -> dict[str, Any]:
    return {"status": {"nominatedNodeName": node, **status}}


def test_with_the_reconcilers_token_a_waiting_pod_is_only_nominated(
    installed: LiveCluster, stolen: Path
) -> None:
    assert ONLY_OURS in written(stolen, nominated("of-somebody-else"))
    written(stolen, nominated(OURS))
    found = installed.get("pod", POD)
    assert found["status"]["nominatedNodeName"] == OURS


READY: Final = {"type": "Ready", "status": "True"}
WAYS: Final[dict[str, dict[str, Any]]] = {
    "ready": nominated(OURS, conditions=[READY]),
    "ended": nominated(OURS, phase="Succeeded"),
    "another address": nominated(OURS, podIP="10.9.9.9", podIPs=[{"ip": "10.9.9.9"}]),
    "a message": nominated(OURS, message="all is well"),
    "labels": nominated(OURS) | {"metadata": {"labels": {"app": "web"}}},
    "annotations": nominated(OURS) | {"metadata": {"annotations": {"a": "b"}}},
}


COST: Final = {"controller.kubernetes.io/pod-deletion-cost": "7"}
LABELS: Final = {"app": "web"}
OTHER_WAYS: Final[dict[str, dict[str, Any]]] = {
    "another annotation": {"metadata": {"annotations": {**COST, "a": "b"}}},
    "a label": {"metadata": {"annotations": COST, "labels": LABELS}},
    "its containers": {"spec": {"activeDeadlineSeconds": 1}},
}


@pytest.mark.long
def test_with_a_right_to_patch_pods_only_their_deletion_cost_is_added(
    installed: LiveCluster, stolen: Path
) -> None:
    def patched(change: dict[str, Any], query: str = "") -> str:
        path = f"/api/v1/namespaces/default/pods/{POD}{query}"
        return asked(stolen, "PATCH", path, change, content_type=MERGE_PATCH)

    values = InstallationValues(pod_deletion_cost=PodDeletionCost.BY_NODE)
    objects = [item for item in rendered(values) if "deletion-cost" in item["metadata"]["name"]]
    installed.kubectl("apply", "-f", "-", input=json.dumps(listed(objects)))
    try:
        refused = OTHER_WAYS["another annotation"]
        wait_until(
            lambda: "only adds a deletion cost" in patched(refused, "?dryRun=All"), "the policy"
        )
        for change in OTHER_WAYS.values():
            assert "deletion cost" in patched(change)
        for _ in range(2):
            patched({"metadata": {"annotations": COST}})
            assert installed.get("pod", POD)["metadata"]["annotations"] == COST
        changed = dict.fromkeys(COST, "8")
        assert "only adds a deletion cost" in patched({"metadata": {"annotations": changed}})
    finally:
        installed.kubectl("delete", "-f", "-", input=json.dumps(listed(objects)))


def listed(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


@pytest.mark.parametrize("way", WAYS)
def test_with_the_reconcilers_token_nothing_else_of_a_pod_changes(stolen: Path, way: str) -> None:
    assert NOTHING_ELSE in written(stolen, WAYS[way])


def ended(stolen: Path, pod: str, **options: Any) -> str:
    path = f"/api/v1/namespaces/default/pods/{pod}"
    return asked(stolen, "DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})


def test_with_the_reconcilers_token_only_pods_on_growths_nodes_are_deleted(
    installed: LiveCluster, stolen: Path
) -> None:
    refused = "growth deletes only pods on its own nodes"
    # In the body: the server ignores the query of a request that has one.
    wait_until(lambda: refused in ended(stolen, POD, dryRun=["All"]), "the policy")
    places = {"guarded-elsewhere": "of-somebody-else", "guarded-here": OURS}
    for name, node in places.items():
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "none"}]}
        installed.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        )
    try:
        assert refused in ended(stolen, "guarded-elsewhere")
        assert "deletionTimestamp" in ended(stolen, "guarded-here")
    finally:
        force = ("--grace-period=0", "--force", "--ignore-not-found")
        installed.kubectl("delete", "pod", *places, *force)
