"""`growth plan hvpa --from-cluster`: what an Hvpa would do now, and why not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
import yaml

from growth.api.hvpa import Hvpa
from growth.cli.__main__ import main
from growth.cli.plan.dry_run import DryRun, dry_run, see_sizing
from growth.cli.plan.dry_run_printing import dry_run_document, dry_run_lines
from growth.errors import Misconfigured
from growth.kube.errors import NotFound
from growth.kube.reads import Reads
from growth.kube.transport import Response
from tests.cli.test_plan_hvpa import HVPA
from tests.live import wait_until
from tests.sizing.build import NOW
from tests.sizing.test_sources import ABLE, ACTIVE, DISABLED, PROVIDED, samples, target, utilization

if TYPE_CHECKING:
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.live import LiveCluster

APPS = "/apis/apps/v1/namespaces/shop/deployments"
PODS = "/api/v1/namespaces/shop/pods"
HPAS = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
VPAS = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers"
CHECKPOINTS = f"{VPAS[:-1]}checkpoints"
API = {"kind": "Deployment", "name": "api"}


class FakeCluster:
    """An API server with these objects; lists that it doesn't have don't exist."""

    def __init__(self, **lists: list[dict[str, Any]]) -> None:
        workload = {
            "metadata": {"name": "api"},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "api"}}},
        }
        self.answers: dict[str, Any] = {f"{APPS}/api": workload, HPAS: []}
        self.answers |= {globals()[name.upper()]: found for name, found in lists.items()}

    async def request(self, _method: str, path: str, **_words: Any) -> Response:
        if path not in self.answers:
            raise NotFound(f"{path}: not found")
        found = self.answers[path]
        body = {"metadata": {}, "items": found} if isinstance(found, list) else found
        return Response(200, {}, msgspec.json.encode(body))


def pod(name: str, cpu: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"containers": [{"name": "api", "resources": resources}]},
        "status": {"phase": "Running"},
    }


def vpa(mode: str = "Off", **status: Any) -> dict[str, Any]:
    wanted = {"containerName": "api", "target": {"cpu": "1200m", "memory": "2Gi"}}
    said = {"conditions": PROVIDED, "recommendation": {"containerRecommendations": [wanted]}}
    return {
        "metadata": {"name": "api"},
        "spec": {"targetRef": API, "updatePolicy": {"updateMode": mode}},
        "status": said | status,
    }


def hpa(name: str = "api", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": API, "metrics": [target(80)], "behavior": DISABLED} | spec,
        "status": {
            "desiredReplicas": 2,
            "currentMetrics": [utilization(90)],
            "conditions": [ABLE, ACTIVE],
        },
    }


def looked(cluster: FakeCluster, **spec: Any) -> DryRun:
    document = next(yaml.safe_load_all(HVPA.read_text()))
    document["spec"] |= spec
    hvpa = Hvpa.model_validate(document)
    reads = Reads(cast("Connection", cluster))
    seen = asyncio.run(see_sizing(reads, hvpa, "shop"))
    return dry_run(hvpa, "shop", seen, NOW)


TWO = [pod("api-1", "800m"), pod("api-2", "800m")]


def test_what_both_sources_say_becomes_a_size() -> None:
    report = looked(FakeCluster(pods=TWO, hpas=[hpa()], vpas=[vpa()], checkpoints=[samples(9)]))
    assert list(dry_run_lines(report)) == [
        "shop/api: Deployment api",
        "",
        "SOURCE  CONTAINER  RESOURCE  TOTAL",
        "HPA     api        cpu       1800m",
        "VPA     api        cpu       2400m",
        "VPA     api        memory    4Gi",
        "",
        "now:   2 x api 800m of cpu, api 1Gi of memory",
        "would: 3 x api 800m of cpu, api 1.3Gi of memory",
        "replicas decided by VPA: 2400m of cpu for api",
    ]


def test_what_keeps_it_from_that_is_told() -> None:
    never = {"updatePolicy": {"updateMode": "Off"}}
    report = looked(FakeCluster(pods=TWO, vpas=[vpa()]), scaleUp=never, hpa={"deploy": False})
    assert "blocked: UpdatePolicy" in list(dry_run_lines(report))
    document = dry_run_document(report)
    assert document["blocked"] == {"reason": "UpdatePolicy", "until": None}
    assert document["would"]["requests"] == {"api": {"cpu": 800, "memory": 1 << 30}}
    assert document["wanted"]["replicas"] == 3


def test_a_source_that_is_not_believed_says_why() -> None:
    cluster = FakeCluster(
        pods=TWO, hpas=[hpa("one"), hpa("two")], vpas=[vpa()], checkpoints=[samples(3)]
    )
    lines = list(dry_run_lines(looked(cluster)))
    assert lines[3].endswith("not believed: one, two scale the same workload")
    assert lines[4].endswith("not believed: the VPA has 3 of 8 samples")
    assert "blocked: SourceUnavailable" in lines


def test_who_else_changes_the_workload_is_told() -> None:
    cluster = FakeCluster(pods=TWO, hpas=[hpa(behavior={})], vpas=[vpa("Recreate")])
    assert looked(cluster).remarks == (
        "VPA api changes pods itself: its updateMode is Recreate",
        "HPA api changes the number of replicas itself",
    )


def test_a_cluster_without_vpas_is_read_too() -> None:
    report = looked(FakeCluster(pods=TWO, hpas=[hpa()]))
    assert [each.doubt for each in report.said] == [None, "there is none for this workload"]


def test_a_workload_that_is_not_there_is_a_mistake() -> None:
    cluster = FakeCluster()
    del cluster.answers[f"{APPS}/api"]
    with pytest.raises(Misconfigured, match="Deployment api isn't in namespace shop"):
        looked(cluster)


@pytest.mark.cluster
@pytest.mark.long
def test_a_real_workload_is_read_and_left_as_it_is(
    cluster: LiveCluster, namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hvpa, deployment = yaml.safe_load_all(HVPA.read_text())
    for document in (hvpa, deployment):
        document["metadata"]["namespace"] = namespace
    hvpa["spec"]["vpa"] |= {"deploy": False}
    path = tmp_path / "hvpa.yaml"
    path.write_text(yaml.safe_dump(hvpa))
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(deployment))
    cluster.kubectl("autoscale", "-n", namespace, "deployment/api", "--max=3", "--cpu-percent=80")
    words = ["plan", "hvpa", "-f", str(path), "--from-cluster", "--kubeconfig"]

    def told() -> str:
        assert main([*words, str(cluster.kubeconfig)]) == 0
        return capsys.readouterr().out

    wait_until(lambda: "now:   1 x api 250m of cpu, api 1Gi of memory" in told(), "pods are seen")
    assert "HPA api changes the number of replicas itself" in told()
