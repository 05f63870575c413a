"""The manifests: taken by the real API server word by word, and enough for the process to work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from benchmarks.extender_live import extending
from growth.cli.scheduler_configuration import Reach, Target, written
from tests.extender.live import install
from tests.live import ROOT, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

BASE: Final = ROOT / "manifests" / "base" / "extender.yaml"
SECOND: Final = ROOT / "manifests" / "overlays" / "second-scheduler"
NAMESPACE: Final = "growth-system"


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def test_the_second_scheduler_has_the_stanza_that_the_command_prints() -> None:
    theirs = yaml.safe_load((SECOND / "scheduler-configuration.yaml").read_text("utf-8"))
    ours = yaml.safe_load(written(Target.KWOK, Reach()))

    assert theirs["extenders"] == ours["extenders"]
    assert theirs["clientConnection"] == ours["clientConnection"]


@pytest.mark.cluster
class TestOnARealServer:
    @pytest.fixture
    def system(self, cluster: LiveCluster) -> Iterator[LiveCluster]:
        """A cluster with the namespace of growth."""
        cluster.try_kubectl("create", "namespace", NAMESPACE)
        yield cluster
        cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")
        present = ("get", "namespace", NAMESPACE, "--ignore-not-found", "-o", "name")
        wait_until(lambda: not cluster.kubectl(*present), "the end of the namespace", within=60)

    def test_every_field_is_one_that_the_server_knows(self, system: LiveCluster) -> None:
        second = system.kubectl("kustomize", str(SECOND))
        strict = ("apply", "--dry-run=server", "--validate=strict", "-f")

        system.kubectl(*strict, str(BASE))
        taken = system.kubectl(*strict, "-", input=second)

        assert taken.count("created (server dry run)") == len(documents(second))

    def test_the_rights_of_the_extender_are_all_that_it_needs(
        self, system: LiveCluster, tmp_path: Path
    ) -> None:
        install(system)
        rights = [each for each in documents(BASE.read_text("utf-8")) if is_access(each)]
        system.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(rights))
        try:
            with extending(self.of_account(system, tmp_path), tmp_path / "log") as extender:
                assert extender.position()
        finally:
            system.kubectl("delete", "-f", "-", input=yaml.safe_dump_all(rights))

    def of_account(self, system: LiveCluster, folder: Path) -> Path:
        """A kubeconfig with the token of the extender's account."""
        config = yaml.safe_load(system.kubeconfig.read_text("utf-8"))
        token = system.kubectl("create", "token", "growth-extender", "--namespace", NAMESPACE)
        for user in config["users"]:
            user["user"] = {"token": token.strip()}
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config), "utf-8")
        return path


def is_access(document: dict[str, Any]) -> bool:
    return document["kind"] in {"ServiceAccount", "ClusterRole", "ClusterRoleBinding"}
