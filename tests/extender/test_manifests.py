"""The manifests: taken by the real API server word by word, and enough for the process to work."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from benchmarks.extender_live import Extender, extending, replicas
from growth.cli.scheduler_config.configuration import Reach, SchedulerTarget, configuration_text
from kwok.schedulers import configured
from tests.extender.live import bound, nodes
from tests.live import ROOT, wait_until
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

BASE: Final = ROOT / "manifests" / "base" / "extender.yaml"
SECOND: Final = ROOT / "manifests" / "overlays" / "second-scheduler"
NAMESPACE: Final = "growth-system"
SCHEDULER: Final = "growth-scheduler"


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def test_the_second_scheduler_has_the_stanza_that_the_command_prints() -> None:
    theirs = yaml.safe_load((SECOND / "scheduler-configuration.yaml").read_text("utf-8"))
    ours = yaml.safe_load(configuration_text(SchedulerTarget.KWOK, Reach()))

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
        wait_until(lambda: not cluster.kubectl(*present), "the end of the namespace")

    def test_every_field_is_one_that_the_server_knows(self, system: LiveCluster) -> None:
        second = system.kubectl("kustomize", str(SECOND))
        strict = ("apply", "--dry-run=server", "--validate=strict", "-f")

        system.kubectl(*strict, str(BASE))
        taken = system.kubectl(*strict, "-", input=second)

        assert taken.count("created (server dry run)") == len(documents(second))

    def test_the_rights_of_the_extender_are_all_that_it_needs(
        self, system: LiveCluster, tmp_path: Path
    ) -> None:
        install_definitions(system)
        rights = [each for each in documents(BASE.read_text("utf-8")) if is_access(each)]
        system.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(rights))
        try:
            with extending(self.of_account(system, tmp_path), tmp_path / "log") as extender:
                assert extender.position()
        finally:
            system.kubectl("delete", "-f", "-", input=yaml.safe_dump_all(rights))

    def test_the_second_scheduler_and_the_extender_in_its_pod_place_pods(
        self, system: LiveCluster, namespace: str, tmp_path: Path
    ) -> None:
        rights = SECOND / "access.yaml"
        install_definitions(system)
        system.kubectl("apply", "-f", str(rights))
        try:
            account = self.of_account(system, tmp_path, "growth-scheduler")
            with (
                extending(account, tmp_path / "log") as extender,
                second_scheduler(system, account, extender),
                nodes(system, "second", count=2),
            ):
                warmed = extender.figure("growth_extender_verb_seconds_count")
                pods = replicas("web", count=4, scheduler=SCHEDULER, cpu="1m", group="second")
                system.create(pods, namespace=namespace)
                wait_until(lambda: bound(system, namespace, app="web") == 4, "pods")
                # One filter and one prioritize for each; the front sends its figures by and by.
                asked = warmed + 8
                wait_until(
                    lambda: extender.figure("growth_extender_verb_seconds_count") >= asked,
                    "the figures of the calls",
                )
                lease = system.get("lease", SCHEDULER, "--namespace", NAMESPACE)
        finally:
            system.kubectl("delete", "-f", str(rights))

        assert lease["spec"]["holderIdentity"]

    def of_account(
        self, system: LiveCluster, folder: Path, account: str = "growth-extender"
    ) -> Path:
        """A kubeconfig with the token of an account."""
        config = yaml.safe_load(system.kubeconfig.read_text("utf-8"))
        token = system.kubectl("create", "token", account, "--namespace", NAMESPACE)
        for user in config["users"]:
            user["user"] = {"token": token.strip()}
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config), "utf-8")
        return path


@contextmanager
def second_scheduler(system: LiveCluster, account: Path, extender: Extender) -> Iterator[None]:
    """kube-scheduler with the file and the words of the manifests, but for where things are."""
    content = yaml.safe_load((SECOND / "scheduler-configuration.yaml").read_text("utf-8"))
    content["clientConnection"]["kubeconfig"] = str(account)
    content["extenders"][0]["urlPrefix"] = f"http://{extender.verbs}"
    [deployment] = [
        each
        for each in documents((SECOND / "scheduler.yaml").read_text("utf-8"))
        if each["kind"] == "Deployment"
    ]
    words = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    own = [word for word in words if not word.startswith("--config=")]
    folder = system.kubeconfig.parent
    with configured(folder, yaml.safe_dump(content), *own, name=SCHEDULER):
        yield


def is_access(document: dict[str, Any]) -> bool:
    return document["kind"] in {"ServiceAccount", "ClusterRole", "ClusterRoleBinding"}
