"""Who writes what growth believes: removals, the status of requests, and records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.live import wait_until
from tests.manifests.asking import KUBELET, PERSON, STEWARD, Caller, all_may_write, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

NAME: Final = "pool-3f0c8a52-5d0e-4c1b-9a67-0d2b54ce91aa"
REFUSAL: Final = "only growth and administrators write this"
GROWTH: Final = {"apiVersion": "growth.dev/v1alpha1", "metadata": {"name": NAME}}
REMOVAL: Final[dict[str, Any]] = {
    **GROWTH,
    "kind": "NodeRemovalRequest",
    "spec": {
        "pool": "pool",
        "nodeName": NAME,
        "nodeID": "kwok://other",
        "requestUID": "3f0c8a52-5d0e-4c1b-9a67-0d2b54ce91ab",
        "reason": "Idle",
    },
}
RECORD: Final[dict[str, Any]] = {
    **GROWTH,
    "kind": "NodeRecord",
    "spec": {
        "pool": "pool",
        "nodeClassRef": {"kind": "KwokNodeClass", "name": "default"},
        "serverType": "cx23",
        "location": "nbg1",
        "price": "0.0088",
        "nodeID": f"kwok://{NAME}",
        "requestUID": "3f0c8a52-5d0e-4c1b-9a67-0d2b54ce91ab",
        "boughtAt": "2026-01-01T00:00:00Z",
    },
}
READY: Final = {"status": {"phase": "Ready", "nodeName": "worker"}}
PENDING: Final = {"status": {"phase": "Pending"}}


@pytest.fixture(scope="module")
def guarded(installed: LiveCluster) -> Iterator[LiveCluster]:
    """Roles let everybody write, and the policy is in force."""
    with all_may_write(installed):
        wait_until(
            lambda: REFUSAL in create_as(PERSON, installed, REMOVAL, "--dry-run=server"),
            "the policy",
        )
        yield installed


def create_as(caller: Caller, cluster: LiveCluster, item: dict[str, Any], *words: str) -> str:
    return caller.says(cluster, "create", *words, body=item)


def patch_as(
    caller: Caller, cluster: LiveCluster, kind: str, change: dict[str, Any], *words: str
) -> str:
    given = ("--type=merge", f"--patch={json.dumps(change)}")
    return caller.says(cluster, "patch", kind, NAME, *given, *words)


@pytest.mark.parametrize("caller", [KUBELET, PERSON], ids=["a kubelet", "a person"])
def test_nobody_else_has_a_machine_given_back(guarded: LiveCluster, caller: Caller) -> None:
    assert REFUSAL in create_as(caller, guarded, REMOVAL)


@pytest.mark.parametrize("caller", [KUBELET, PERSON], ids=["a kubelet", "a person"])
def test_nobody_else_writes_what_growth_believes_of_a_machine(
    guarded: LiveCluster, caller: Caller
) -> None:
    assert REFUSAL in create_as(caller, guarded, RECORD)
    guarded.create(RECORD)
    joined = {"status": {"node": {"name": "worker", "uid": "1"}}}

    assert REFUSAL in patch_as(caller, guarded, "noderecord", joined, "--subresource=status")
    assert REFUSAL in caller.says(guarded, "delete", "noderecord", NAME)
    assert "deleted" in STEWARD.says(guarded, "delete", "noderecord", NAME)


def test_nobody_else_changes_a_removal_and_people_end_one(guarded: LiveCluster) -> None:
    guarded.create(REMOVAL)
    theirs = {"metadata": {"finalizers": ["somebody.example/keeps-it"]}}

    assert REFUSAL in patch_as(PERSON, guarded, "noderemovalrequest", theirs)
    assert REFUSAL in patch_as(
        PERSON, guarded, "noderemovalrequest", PENDING, "--subresource=status"
    )
    assert "deleted" in PERSON.says(guarded, "delete", "noderemovalrequest", NAME)


def test_nobody_else_says_how_a_purchase_went_and_people_cancel_one(guarded: LiveCluster) -> None:
    guarded.create(request(NAME))

    assert REFUSAL in patch_as(PERSON, guarded, "noderequest", READY, "--subresource=status")
    assert "deleted" in PERSON.says(guarded, "delete", "noderequest", NAME)


def test_an_administrator_of_growth_asks_for_a_removal(guarded: LiveCluster) -> None:
    assert "created" in create_as(STEWARD, guarded, REMOVAL, "--dry-run=server")
