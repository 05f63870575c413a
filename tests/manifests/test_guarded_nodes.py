"""What the API server lets others write on Nodes, and the reconciler on Nodes of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.kube.call import MERGE_PATCH
from tests.live import wait_until
from tests.manifests.asking import (
    KUBELET,
    PERSON,
    STEWARD,
    Caller,
    all_may_write,
    asked,
    stolen_from,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

UUID: Final = "3f0c8a52-5d0e-4c1b-9a67-0d2b54ce91aa"
OURS: Final = f"pool-{UUID}"
"""A Node that growth has bought: its name, and the label below."""
JOINING: Final = f"pool-{UUID[:-1]}b"
"""A Node that growth has bought, before it has the label."""
FOREIGN: Final = f"worker-{UUID}"
"""A Node that looks as if growth had named it."""
WORKER: Final = "worker"
MANAGED: Final = {"growth.dev/managed-by": "growth"}
STARTING: Final = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
BROKEN: Final = {"key": "node.kubernetes.io/out-of-service", "effect": "NoSchedule"}
GONE: Final = {"key": "growth.dev/leaving", "effect": "NoSchedule"}
RESERVED: Final = "only growth and administrators change this on a node"
STRANGE: Final = "growth changes no node that it hasn't bought"
UNDO: Final = "growth deletes no node that it hasn't bought"
DRY: Final = {"dryRun": ["All"]}


def node(name: str, *taints: dict[str, str], **metadata: Any) -> dict[str, Any]:
    metadata = {"name": name, **metadata}
    spec = {"taints": list(taints)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}


def on(place: str, **values: str | None) -> dict[str, Any]:
    """A patch of growth's labels or annotations."""
    return {
        "metadata": {place: {f"growth.dev/{key.replace('_', '-')}": values[key] for key in values}}
    }


def patch_as(
    caller: Caller, cluster: LiveCluster, change: dict[str, Any], *words: str, name: str = WORKER
) -> str:
    return caller.says(
        cluster, "patch", "node", name, "--type=merge", f"--patch={json.dumps(change)}", *words
    )


@pytest.fixture(scope="module")
def guarded(installed: LiveCluster) -> Iterator[LiveCluster]:
    """Roles let everybody write; Nodes of others and of growth; the policies are in force."""
    dry = "--dry-run=server"
    with all_may_write(installed):
        installed.create(
            node(WORKER, labels={"growth.dev/pool": "default"}),
            node(FOREIGN),
            node(OURS, BROKEN, GONE, labels={**MANAGED, "kubernetes.io/hostname": OURS}),
            node(JOINING, STARTING),
        )
        claim = on("labels", pool="secure")
        wait_until(
            lambda: RESERVED in patch_as(PERSON, installed, claim, dry), "the policy on marks"
        )
        yield installed
        names = (WORKER, FOREIGN, OURS, JOINING)
        installed.kubectl("delete", "node", "--ignore-not-found", "--wait=false", *names)


@pytest.fixture(scope="module")
def stolen(guarded: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig of somebody who has the reconciler's token."""
    path = tmp_path_factory.mktemp("stolen") / "kubeconfig"
    stolen = stolen_from(guarded, "growth-reconciler", path)
    delete = ("DELETE", f"/api/v1/nodes/{WORKER}", DRY)
    wait_until(lambda: UNDO in asked(stolen, *delete), "the policy on nodes")
    return stolen


def test_a_kubelet_registers_with_what_it_likes(guarded: LiveCluster) -> None:
    words = {**MANAGED, "growth.dev/pool": "secure"}
    made = node("registered", STARTING, labels=words, annotations={"growth.dev/price": "-1000"})

    assert "created" in KUBELET.says(guarded, "create", "--dry-run=server", body=made)


def test_a_node_is_not_flooded_with_words_until_the_guards_take_long(guarded: LiveCluster) -> None:
    many = {f"word-{number}": "" for number in range(1001)}
    made = node("flooded", annotations=many)
    refusal = "at most 1,000 labels and annotations"

    assert refusal in KUBELET.says(guarded, "create", "--dry-run=server", body=made)
    assert refusal in patch_as(KUBELET, guarded, {"metadata": {"annotations": many}})
    assert refusal in patch_as(KUBELET, guarded, {"metadata": {"labels": many}})


SWAP: Final = json.dumps({"nodes": [OURS], "of": 1, "reason": "Unhealthy"})
LIES: Final[dict[str, dict[str, Any]]] = {
    "it announces a swap that deletes others": on("annotations", replaces=SWAP),
    "it joins a pool that gives it protected labels": on("labels", pool="secure"),
    "it leaves its pool": on("labels", pool=None),
    "it has a price that lifts the limits": on("annotations", price="-1000"),
    "it was made from a blueprint": on("annotations", template="{}"),
    "it is growth's": on("labels", managed_by="growth"),
    "it may not be disrupted": on("annotations", do_not_disrupt="true"),
    "it is about to go": {"spec": {"taints": [GONE]}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_kubelet_says_nothing_in_growths_name(guarded: LiveCluster, lie: str) -> None:
    answer = patch_as(KUBELET, guarded, LIES[lie])

    # Of taints, Kubernetes' own plugin says it first where it is enabled.
    assert RESERVED in answer or "not allowed to modify taints" in answer


def test_a_kubelet_says_nothing_in_growths_name_with_its_status(guarded: LiveCluster) -> None:
    lie = on("annotations", replaces=SWAP)

    assert RESERVED in patch_as(KUBELET, guarded, lie, "--subresource=status")


def test_a_kubelet_writes_its_own_node_as_before(guarded: LiveCluster) -> None:
    ready = [{"type": "Ready", "status": "True"}]

    for subresource in ((), ("--subresource=status",)):
        said = {
            "metadata": {"annotations": {"volumes": "attached"}},
            "status": {"conditions": ready},
        }
        answer = patch_as(KUBELET, guarded, said, "--dry-run=server", *subresource)
        assert "patched" in answer


def test_people_keep_a_node_and_say_nothing_else_in_growths_name(guarded: LiveCluster) -> None:
    keep = on("annotations", do_not_disrupt="true")

    assert "patched" in patch_as(PERSON, guarded, keep)
    assert RESERVED in patch_as(PERSON, guarded, on("annotations", replaces=SWAP))
    assert RESERVED in patch_as(PERSON, guarded, {"spec": {"taints": None}}, name=OURS)
    assert "patched" in patch_as(PERSON, guarded, on("annotations", do_not_disrupt=None))


def test_an_administrator_of_growth_corrects_a_node(guarded: LiveCluster) -> None:
    wrong = on("labels", pool="other")

    assert "patched" in patch_as(STEWARD, guarded, wrong, "--dry-run=server")


SECRET_WAYS: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "a foreign node is claimed": (WORKER, on("labels", managed_by="growth"), STRANGE),
    "one with a name like growth's": (FOREIGN, on("labels", managed_by="growth"), STRANGE),
    "and with the start-up taint": (FOREIGN, {"spec": {"taints": [STARTING]}}, STRANGE),
    "a foreign node is cordoned": (WORKER, {"spec": {"unschedulable": True}}, STRANGE),
    "a node is cordoned without the mark": (OURS, {"spec": {"unschedulable": True}}, "own mark"),
    "what a person said is changed": (OURS, on("annotations", do_not_disrupt="x"), "its own"),
    "annotations of others": (OURS, {"metadata": {"annotations": {"a": "b"}}}, "its own"),
    "a broken node serves": (OURS, {"spec": {"taints": [GONE]}}, "of Kubernetes itself"),
    "another machine": (OURS, {"spec": {"providerID": "hcloud://1"}}, "only labels"),
    "a finalizer": (OURS, {"metadata": {"finalizers": ["a.example/b"]}}, "only labels"),
    "volumes go to another host": (
        OURS,
        {"metadata": {"labels": {"kubernetes.io/hostname": WORKER}}},
        "doesn't change the label",
    ),
}


@pytest.mark.parametrize("way", SECRET_WAYS)
def test_with_the_reconcilers_token_little_can_be_done_to_a_node(stolen: Path, way: str) -> None:
    name, change, refusal = SECRET_WAYS[way]

    answer = asked(stolen, "PATCH", f"/api/v1/nodes/{name}", change, content_type=MERGE_PATCH)

    assert refusal in answer


def test_a_cordon_of_a_person_stays_whoever_has_the_reconcilers_token(
    guarded: LiveCluster, stolen: Path
) -> None:
    guarded.kubectl("cordon", OURS)
    mark = {"metadata": {"annotations": {"growth.dev/cordoned": "Idle"}}}
    for change in ({"spec": {"unschedulable": None}}, mark):
        path = f"/api/v1/nodes/{OURS}"
        assert "cordons of others" in asked(stolen, "PATCH", path, change, content_type=MERGE_PATCH)
    guarded.kubectl("uncordon", OURS)


def test_a_node_that_starts_becomes_growths(stolen: Path) -> None:
    joined = {"metadata": {"labels": MANAGED}, "spec": {"taints": None}}
    path = f"/api/v1/nodes/{JOINING}?dryRun=All"

    assert f'"name":"{JOINING}"' in asked(stolen, "PATCH", path, joined, content_type=MERGE_PATCH)


def test_a_node_of_growths_is_cordoned_and_uncordoned(stolen: Path) -> None:
    for cordon, mark in ((True, "Idle"), (None, None)):
        change = {**on("annotations", cordoned=mark), "spec": {"unschedulable": cordon}}
        path = f"/api/v1/nodes/{OURS}"
        answer = asked(stolen, "PATCH", path, change, content_type=MERGE_PATCH)
        assert f'"name":"{OURS}"' in answer


@pytest.mark.parametrize("name", ["cp-1", JOINING[:-1] + "c"])
def test_with_the_reconcilers_token_only_simulated_nodes_are_made(stolen: Path, name: str) -> None:
    made = node(name, STARTING, labels=MANAGED)
    made["spec"]["providerID"] = "hcloud://1"

    assert "no nodes but simulated ones" in asked(stolen, "POST", "/api/v1/nodes", made)


def test_no_node_is_deleted_that_growth_has_not_bought(stolen: Path) -> None:
    for name in (WORKER, FOREIGN, JOINING):
        assert UNDO in asked(stolen, "DELETE", f"/api/v1/nodes/{name}", DRY)
    assert '"status":"Success"' in asked(stolen, "DELETE", f"/api/v1/nodes/{OURS}", DRY)
