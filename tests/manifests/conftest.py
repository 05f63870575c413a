"""A cluster of its own: what is installed here would ask about the pods of every other test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.live import bring_down, bring_up, kept_cluster, wait_until
from tests.manifests.beside import installed_beside
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM
from tests.thread.growing import EXAMPLE, deployment, wait_until_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster
    from tests.manifests.beside import Beside


@pytest.fixture(scope="package")
def bare() -> Iterator[LiveCluster]:
    """A cluster that is nobody else's; GROWTH_TEST_CLUSTER=NAME takes one that stays."""
    kept = kept_cluster()
    if kept is not None:
        yield bring_up(f"{kept}-manifests")
        return
    name = f"growth-test-{os.getpid()}-manifests"
    try:
        yield bring_up(name)
    finally:
        bring_down(name)


@pytest.fixture
def emptied(bare: LiveCluster) -> LiveCluster:
    """The same without growth, whatever another test has left of it."""
    _empty(bare)
    return bare


def _empty(cluster: LiveCluster) -> None:
    """Nothing that was installed is there, nor certificates, pools or machines."""
    assert grow(cluster, "uninstall", "--machines", "keep") == 0
    cluster.kubectl("delete", "nodes", "--selector=growth.dev/managed-by=growth")
    cluster.kubectl("delete", "deployments", "--all", "--namespace=default")
    present = ("get", "namespace", SYSTEM, "--ignore-not-found", "--output=name")
    wait_until(lambda: not cluster.kubectl(*present), "the end of the namespace")


@pytest.fixture(scope="module")
def installed(bare: LiveCluster) -> LiveCluster:
    """The same with everything that is installed for KWOK; its pods are simulated."""
    _empty(bare)
    assert grow(bare, "install", "--for", "kwok", "--wait", "0s") == 0
    default = ("get", "serviceaccount", "default", "--namespace", "default")
    wait_until(lambda: bare.try_kubectl(*default).returncode == 0, "the service account")
    return bare


@pytest.fixture(scope="package")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    """growth installed and at work, with a pool and pods that were bought for."""
    name = f"growth-test-{os.getpid()}-beside"
    with installed_beside(name, tmp_path_factory.mktemp("beside")) as working:
        cluster = working.cluster
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        requests = {"cpu": "500m", "memory": "512Mi"}
        cluster.create(deployment("some", pool="default", replicas=6, **requests))
        wait_until_bound(cluster, "default", count=6)
        yield working
