"""`growth convert --from hvpa`: an Hvpa of Gardener's controller becomes growth's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.api.hvpa import Hvpa, UpdateMode
from growth.cli.__main__ import main
from sizing.spec import sizing_rules

if TYPE_CHECKING:
    from pathlib import Path

CHANGE = {"cpu": {"value": "100m", "percentage": 80}, "memory": {"value": "200M", "percentage": 80}}
AT_NIGHT = {"updatePolicy": {"updateMode": "MaintenanceWindow"}, "minChange": CHANGE}
ALLOWED = {
    "containerName": "api",
    "minAllowed": {"cpu": "300m", "memory": "400M"},
    "maxAllowed": {"cpu": "8", "memory": "25G"},
    "controlledValues": "RequestsOnly",
}
OLD: dict[str, Any] = {
    "apiVersion": "autoscaling.k8s.io/v1alpha1",
    "kind": "Hvpa",
    "metadata": {"name": "api", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
        "hpa": {
            "deploy": True,
            "template": {"spec": {"minReplicas": 1, "maxReplicas": 4, "metrics": []}},
        },
        "vpa": {
            "deploy": True,
            "scaleUp": {"minChange": CHANGE, "stabilizationDuration": "2m"},
            "scaleDown": AT_NIGHT,
            "template": {"spec": {"resourcePolicy": {"containerPolicies": [ALLOWED]}}},
        },
        "weightBasedScalingIntervals": [
            {"vpaWeight": 100, "startReplicaCount": 4, "lastReplicaCount": 4},
            {"vpaWeight": 0, "startReplicaCount": 1, "lastReplicaCount": 3},
        ],
        "maintenanceTimeWindow": {"begin": "220000+0100", "end": "230000+0100"},
    },
}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api"}}


def test_an_old_hvpa_becomes_one_that_can_be_planned_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(yaml.safe_dump_all([SERVICE, OLD]))
    assert main(["convert", "--from", "hvpa", "-f", str(path)]) == 0
    told = capsys.readouterr()
    service, document = yaml.safe_load_all(told.out)
    assert service == SERVICE
    rules = sizing_rules(Hvpa.model_validate(document).spec, ["api"])
    assert [(each.replicas, each.is_fixed) for each in rules.intervals] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
    ]
    assert rules.scale_up.combine == "min"
    assert rules.scale_down.mode is UpdateMode.MAINTENANCE_WINDOW
    assert "old.yaml:6" in told.err
    assert "is a guess (minAllowed)" in told.err

    new = tmp_path / "new.yaml"
    new.write_text(told.out)
    assert main(["plan", "hvpa", "-f", str(new), "--load", "cpu=0..12"]) == 0


def test_what_it_can_not_be_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.yaml"
    spec = {**OLD["spec"], "maintenanceTimeWindow": {"begin": "at night", "end": "230000+0100"}}
    path.write_text(yaml.safe_dump(OLD | {"spec": spec}))
    assert main(["convert", "--from", "hvpa", "-f", str(path)]) == 2
    assert "spec.maintenanceTimeWindow.begin: should match" in capsys.readouterr().err


def test_without_being_asked_for_it_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(yaml.safe_dump(OLD))
    assert main(["convert", "-f", str(path)]) == 0
    assert capsys.readouterr().out == path.read_text()


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"weightBasedScalingIntervals": [{"vpaWeight": 50, "lastReplicaCount": 2}]}, "weights"),
        ({"hpa": {"scaleUp": {"updatePolicy": {}}}}, "those of the HPA were left out"),
        (
            {"vpa": {**OLD["spec"]["vpa"], "limitsRequestsGapScaleParams": CHANGE}},
            "multiply absolute values",
        ),
    ],
)
def test_what_has_no_counterpart_is_told(
    changes: dict[str, Any],
    remark: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(yaml.safe_dump(OLD | {"spec": OLD["spec"] | changes}))
    assert main(["convert", "--from", "hvpa", "-f", str(path)]) == 0
    assert remark in capsys.readouterr().err
