"""What a cluster's scheduler is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwok.clusters import LocalCluster
from kwok.configuration import DEFAULT_SCHEDULER, write_configuration
from kwok.finding import FoundProgram
from kwok.versions import PROGRAMS, ReleasedVersion

OWN = yaml.safe_dump(
    {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "other"}],
    }
)


@pytest.fixture
def cluster(tmp_path: Path) -> LocalCluster:
    uses = ("etcd", "etcd-peers", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ports = {use: number for number, use in enumerate((*uses, "kwok-controller"), start=1)}
    return LocalCluster("x", tmp_path, "1.36.3", scheduler=DEFAULT_SCHEDULER, ports=ports)


def told(cluster: LocalCluster) -> dict[str, Any]:
    found = {
        each.name: FoundProgram(each, ReleasedVersion(1, 36, 3), Path("x"), "named")
        for each in PROGRAMS
    }
    write_configuration(cluster, found)
    content: dict[str, Any] = yaml.safe_load((cluster.folder / "scheduler.yaml").read_text())
    return content


def flags(cluster: LocalCluster) -> dict[tuple[str, str], str]:
    """What is added to the arguments of each component."""
    told(cluster)
    options, *_ = yaml.safe_load_all((cluster.folder / "kwokctl.yaml").read_text())
    return {
        (patch["name"], each["key"]): each["value"]
        for patch in options["componentsPatches"]
        for each in patch["extraArgs"]
    }


def test_without_growth_it_is_told_what_it_always_was(cluster: LocalCluster) -> None:
    assert told(cluster) == yaml.safe_load(DEFAULT_SCHEDULER)


@pytest.mark.parametrize("theirs", [DEFAULT_SCHEDULER, OWN])
def test_with_growth_it_asks_the_extender_too(cluster: LocalCluster, theirs: str) -> None:
    ports = {**cluster.ports, "growth-verbs": 77}

    content = told(replace(cluster, scheduler=theirs, ports=ports, extended=True))

    (extender,) = content.pop("extenders")
    assert extender["urlPrefix"] == "http://127.0.0.1:77"
    assert extender["ignorable"] is True
    assert content == yaml.safe_load(theirs)


def test_kwok_simulates_every_node_unless_machines_may_join(cluster: LocalCluster) -> None:
    usual, joinable = flags(cluster), flags(replace(cluster, joinable=True))

    assert usual.items() < joinable.items()
    added = joinable.keys() - usual.keys()
    assert ("kube-apiserver", "enable-admission-plugins") in added
    assert joinable["kwok-controller", "manage-all-nodes"] == "false"
    chosen = joinable["kwok-controller", "manage-nodes-with-annotation-selector"]
    assert chosen == "kwok.x-k8s.io/node=fake"
