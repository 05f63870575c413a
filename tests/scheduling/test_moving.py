from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from growth.instant import Instant
from growth.scheduling.moving import Obstacle, obstacle, reluctance
from growth.scheduling.objects import decode_disruption_budget
from tests.scheduling.build import Json, cluster, pod

if TYPE_CHECKING:
    from growth.scheduling.budgets import PodDisruptionBudget

START = datetime(2026, 10, 1, 12, tzinfo=UTC)
NOW = Instant(monotonic=1000.0, wall=START + timedelta(minutes=10))
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
OURS = "growth.dev/do-not-disrupt"
THEIRS = "karpenter.sh/do-not-disrupt"
RUNNING: Json = {
    "phase": "Running",
    "startTime": "2026-10-01T12:00:00Z",
    "conditions": [{"type": "Ready", "status": "True"}],
}
SCRATCH: Json = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
ON_HOST: Json = {"volumes": [{"name": "host", "hostPath": {"path": "/var"}}]}
IN_MEMORY: Json = {"volumes": [{"name": "fast", "emptyDir": {"medium": "Memory"}}]}
FREE, NEVER = None, "never"


def _owned(kind: str = "ReplicaSet") -> Json:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "1", "controller": True}
    return {"ownerReferences": [owner]}


def _pod(
    *,
    annotations: Json | None = None,
    metadata: Json | None = None,
    status: Json | None = None,
    namespace: str = "shop",
    **spec: Any,
) -> Any:
    about = _owned() | {"annotations": annotations or {}} | (metadata or {})
    return pod(
        labels={"app": "web"},
        on="one",
        metadata=about,
        status=status or RUNNING,
        namespace=namespace,
        **spec,
    )


def _budget(allowed: int, *, name: str = "web", namespace: str = "shop") -> PodDisruptionBudget:
    return decode_disruption_budget(
        json.dumps(
            {
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"selector": {"matchLabels": {"app": "web"}}},
                "status": {"disruptionsAllowed": allowed},
            }
        ).encode()
    )


@pytest.mark.parametrize(
    ("made", "until"),
    [
        pytest.param({}, FREE, id="a controller's pod that says nothing"),
        pytest.param({"annotations": {OURS: "true"}}, NEVER, id="ours"),
        pytest.param({"annotations": {OURS: "false"}}, FREE, id="ours, taken back"),
        pytest.param({"annotations": {OURS: "yes"}}, NEVER, id="ours, and somebody meant it"),
        pytest.param({"annotations": {OURS: "15m"}}, 1300.0, id="ours, for a while"),
        pytest.param({"annotations": {OURS: "10m"}}, FREE, id="ours, for a while that is over"),
        pytest.param({"annotations": {THEIRS: "true"}}, NEVER, id="karpenter's"),
        pytest.param({"annotations": {THEIRS: "15m"}}, 1300.0, id="karpenter's, for a while"),
        pytest.param({"annotations": {THEIRS: "5m"}}, FREE, id="karpenter's, over"),
        pytest.param({"annotations": {THEIRS: "yes"}}, FREE, id="karpenter's, unreadable there"),
        pytest.param({"annotations": {SAFE: "false"}}, NEVER, id="the autoscaler's no"),
        pytest.param({"annotations": {SAFE: "on-completion"}}, NEVER, id="until it has ended"),
        pytest.param(
            {"annotations": {SAFE: "true", OURS: "true"}}, NEVER, id="a no beats somebody's yes"
        ),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, NEVER, id="tolerates a cordon"),
        pytest.param(
            {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, FREE, id="tolerates others"
        ),
        pytest.param({"metadata": {"ownerReferences": []}}, NEVER, id="without a controller"),
        pytest.param(
            {"metadata": {"ownerReferences": []}, "annotations": {SAFE: "true"}},
            FREE,
            id="without a controller, and safe",
        ),
        pytest.param({"metadata": _owned("Cluster")}, FREE, id="of a controller that nobody knows"),
        pytest.param(SCRATCH, NEVER, id="with a directory on the node's disk"),
        pytest.param(ON_HOST, NEVER, id="with a directory of the node"),
        pytest.param(IN_MEMORY, FREE, id="with a directory in memory"),
        pytest.param(SCRATCH | {"annotations": {SAFE: "true"}}, FREE, id="with a disk, and safe"),
        pytest.param(
            SCRATCH | {"annotations": {SAFE_VOLUMES: "other,scratch"}}, FREE, id="a named disk"
        ),
        pytest.param(
            SCRATCH | {"annotations": {SAFE_VOLUMES: "other"}}, NEVER, id="another disk's name"
        ),
        pytest.param({"namespace": "kube-system"}, 4000.0, id="the system's, ten minutes old"),
        pytest.param(
            {"namespace": "kube-system", "status": RUNNING | {"startTime": "2026-10-01T11:00:00Z"}},
            FREE,
            id="the system's, older than an hour",
        ),
        pytest.param(
            {"namespace": "kube-system", "annotations": {SAFE: "true"}},
            FREE,
            id="the system's, and safe",
        ),
        pytest.param({"metadata": _owned("DaemonSet")} | ON_HOST, FREE, id="a daemon's"),
        pytest.param(
            {"metadata": {"ownerReferences": []}, "status": {"phase": "Succeeded"}},
            FREE,
            id="done",
        ),
        pytest.param(
            {"metadata": {"ownerReferences": [], "deletionTimestamp": "2026-10-01T12:09:00Z"}},
            FREE,
            id="on its way out already",
        ),
    ],
)
def test_may_a_pod_be_moved_for_the_sake_of_cost(made: Json, until: object) -> None:
    found = obstacle(_pod(**made), cluster(), NOW)
    match until:
        case None:
            assert found is None
        case "never":
            assert found is not None
            assert found.passes_at is None
        case _:
            assert found is not None
            assert found.passes_at == until


def test_what_holds_a_pod_is_told_with_its_name() -> None:
    held = _pod(annotations={OURS: "15m"})
    assert obstacle(held, cluster(), NOW) == Obstacle(
        "shop/web-0", "its annotation growth.dev/do-not-disrupt is 15m", 1300.0
    )


def test_a_pod_whose_kubelet_has_not_begun_is_held_from_its_making_on() -> None:
    about = {"annotations": {OURS: "15m"}, "creationTimestamp": "2026-10-01T12:05:00Z"}
    young = _pod(metadata=_owned() | about, status={"phase": "Pending"})
    found = obstacle(young, cluster(), NOW)
    assert found is not None
    assert found.passes_at == 1600.0


@pytest.mark.parametrize("is_safe", [True, False])
def test_a_budget_that_allows_nothing_holds_also_what_is_safe(*, is_safe: bool) -> None:
    counted = _pod(annotations={SAFE: "true"} if is_safe else {})
    found = obstacle(counted, cluster(_budget(0)), NOW)
    assert found is not None
    assert "PodDisruptionBudget shop/web allows no disruption now" in found.why
    assert found.passes_at is None
    assert obstacle(counted, cluster(_budget(1)), NOW) is None


def test_budgets_are_left_to_the_eviction_api_where_only_the_pods_will_is_asked() -> None:
    assert reluctance(_pod(), cluster(_budget(0)), NOW) is None


def test_a_budget_frees_a_young_pod_of_the_system() -> None:
    young = _pod(namespace="kube-system")
    assert obstacle(young, cluster(_budget(1, namespace="kube-system")), NOW) is None
    assert obstacle(young, cluster(_budget(1, namespace="shop")), NOW) is not None
