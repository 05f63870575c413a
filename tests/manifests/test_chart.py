"""Helm's charts: written from the manifests, and the same as they are."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from generators.charts import charts
from generators.monitoring import monitoring_files
from growth.api import crd
from growth.api.deletion_cost import PodDeletionCost
from growth.api.joining import JoinApproval
from growth.installation.rendering import rendered
from growth.installation.values import (
    Admission,
    CertificatesChoice,
    InstallationValues,
    ProviderChoice,
    SchedulerChoice,
)
from tests.live import ROOT
from tests.manifests.programs import program

if TYPE_CHECKING:
    from pathlib import Path

MANIFESTS = ROOT / "manifests"
CHOICES = {
    "nothing": InstallationValues(),
    "kwok": InstallationValues(provider=ProviderChoice.KWOK),
    "a second scheduler": InstallationValues(scheduler=SchedulerChoice.SECOND, monitoring=True),
    "an approver of its own": InstallationValues(join_approval=JoinApproval.GROWTH),
    "pods that go first": InstallationValues(pod_deletion_cost=PodDeletionCost.BY_NODE),
    "a policy": InstallationValues(admission=Admission.POLICY, network_policies=False),
    "one's own": InstallationValues.model_validate(
        {
            "certificates": CertificatesChoice.EXTERNAL,
            "logLevel": "debug",
            "images": {"servers": "registry.example/growth@sha256:0123", "reconciler": "r:1"},
            "imagePullSecrets": [{"name": "registry"}],
            "replicas": {"reconciler": 1},
            "resources": {
                "webhooks": {
                    "requests": {"cpu": "1", "memory": "1Gi"},
                    "limits": {"memory": "2Gi"},
                }
            },
        },
        by_alias=True,
    ),
}


@pytest.mark.parametrize(
    ("folder", "texts"), [("charts", charts()), ("monitoring", monitoring_files())]
)
def test_what_is_generated_is_what_lies_there(folder: str, texts: dict[str, str]) -> None:
    """`make crds` writes it anew."""
    apart = {"kustomization.yaml", "service-monitor.yaml"}
    place = MANIFESTS / folder
    files = {
        str(path.relative_to(place)): path.read_text("utf-8")
        for path in place.rglob("*")
        if path.is_file() and path.name not in apart
    }

    assert files == texts


def test_values_without_a_word_are_the_defaults() -> None:
    written = yaml.safe_load((MANIFESTS / "charts/growth/values.yaml").read_text("utf-8"))

    assert written == InstallationValues().document()


@pytest.mark.parametrize("choice", CHOICES)
def test_helm_makes_what_growth_installs(tmp_path: Path, choice: str) -> None:
    values = CHOICES[choice]
    made = templated("growth", json.dumps(values.document()), tmp_path, namespace="machines")

    assert by_title(made) == by_title(
        item for item in rendered(values, namespace="machines") if item["kind"] != "Namespace"
    )


def test_the_other_chart_is_the_definitions_and_helm_keeps_them(tmp_path: Path) -> None:
    made = templated("growth-crds", "{}", tmp_path, namespace="machines")

    kept = [each["metadata"].pop("annotations") for each in made]
    assert by_title(made) == by_title(crd.definitions().values())
    assert kept == [{"helm.sh/resource-policy": "keep"}] * len(made)


@pytest.mark.parametrize(
    "text",
    [
        "replica: {}",
        "provider: other",
        "replicas: {webhooks: 99}",
        "{joinApproval: Growth, certificates: external}",
        "{joinApproval: Growth, provider: kwok}",
    ],
)
def test_helm_refuses_a_value_that_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        templated("growth", text, tmp_path, namespace="machines")

    assert "values don't meet the specifications of the schema" in refused.value.stderr


def templated(chart: str, values: str, folder: Path, *, namespace: str) -> list[dict[str, Any]]:
    (folder / "values.yaml").write_text(values, "utf-8")
    words = ("--kube-version", "1.36.3", "--namespace", namespace)
    done = subprocess.run(
        [
            *(program("helm"), "template", "growth", MANIFESTS / "charts" / chart, *words),
            *("--values", folder / "values.yaml"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def by_title(items: Any) -> dict[str, Any]:
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in items}
