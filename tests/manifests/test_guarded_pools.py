"""What may be bought is for people to say, whoever has the reconciler's token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.kube.call import MERGE_PATCH
from tests.live import wait_until
from tests.manifests.asking import asked, stolen_from
from tests.thread.growing import EXAMPLE, pool_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

API: Final = "/apis/growth.dev/v1alpha1"
POOL: Final = "guarded"
THEIRS: Final = "somebody.example/keeps-it"
OURS: Final = "growth.dev/provider-cleanup"


@pytest.fixture(scope="module")
def stolen(installed: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of somebody who has the reconciler's token, a pool and a node class."""
    installed.kubectl("apply", "-f", str(EXAMPLE))
    pool = pool_of("cx23")
    paused = {"growth.dev/paused-until": "2099-01-01T00:00:00Z"}
    pool["metadata"] = {"name": POOL, "annotations": paused, "finalizers": [THEIRS]}
    installed.create(pool)
    path = tmp_path_factory.mktemp("stolen") / "kubeconfig"
    stolen = stolen_from(installed, "growth-reconciler", path)
    try:
        limits = {"spec": {"limits": {"nodes": 1000}}}
        wait_until(lambda: "no pool" in patched(stolen, limits, "?dryRun=All"), "the policy")
        yield stolen
    finally:
        # Of somebody whom roles allow everything.
        free = '--patch={"metadata":{"finalizers":null}}'
        installed.kubectl("patch", "nodepool", POOL, "--type=merge", free)
        installed.kubectl("delete", "nodepool", POOL)


def patched(
    stolen: Path, change: dict[str, Any], query: str = "", *, place: str = f"nodepools/{POOL}"
) -> str:
    path = f"{API}/{place}{query}"
    return asked(stolen, "PATCH", path, change, content_type=MERGE_PATCH)


WAYS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "more machines": ({"spec": {"limits": {"nodes": 1000}}}, "no pool and no node class"),
    "dearer ones": (
        {"spec": {"serverTypes": [{"name": "ccx63", "max": 100}]}},
        "no pool and no node class",
    ),
    "a pause ends": (
        {"metadata": {"annotations": {"growth.dev/paused-until": None}}},
        "no pause and no annotation",
    ),
    "a finalizer of others": ({"metadata": {"finalizers": [OURS]}}, "only its finalizer"),
    "labels": ({"metadata": {"labels": {"team": "a"}}}, "only its finalizer"),
}


@pytest.mark.parametrize("way", WAYS)
def test_with_the_reconcilers_token_a_pool_allows_nothing_more(stolen: Path, way: str) -> None:
    change, refusal = WAYS[way]

    assert refusal in patched(stolen, change)


def test_with_the_reconcilers_token_no_machine_is_created_in_another_way(stolen: Path) -> None:
    change = {"spec": {"currency": "XTS"}}

    assert "no pool and no node class" in patched(stolen, change, place="kwoknodeclasses/default")


def test_growth_counts_faults_and_keeps_a_pool_until_its_machines_are_gone(stolen: Path) -> None:
    finalizer = {"metadata": {"finalizers": [THEIRS, OURS]}}
    counted = {"metadata": {"annotations": {"growth.dev/kwok-faults-struck": '{"a":1}'}}}

    assert OURS in patched(stolen, finalizer, "?dryRun=All")
    assert "kwok-faults-struck" in patched(
        stolen, counted, "?dryRun=All", place="kwoknodeclasses/default"
    )
