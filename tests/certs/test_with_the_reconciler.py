"""The real reconciler keeps the certificates while it leads, unless it is told not to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from certs.wanted import WANTED, WEBHOOKS
from tests.live import bring_down, bring_up, wait_until
from tests.thread.growing import install, reconciling
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.long]

NAMES = {
    name
    for authority in WANTED
    for name in (authority.name, *(leaf.name for leaf in authority.leaves))
}


@pytest.fixture
def growing() -> Iterator[LiveCluster]:
    name = f"growth-test-{os.getpid()}-certs"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.create(configuration())
        yield cluster
    finally:
        bring_down(name)


def test_the_leader_keeps_certificates_unless_somebody_else_does(
    growing: LiveCluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with reconciling(growing, log, GROWTH_CERTIFICATES="external"):
        wait_until(lambda: '"leading"' in log.read_text(), "it leads")
    assert secrets(growing) == set()

    with reconciling(growing, log):
        wait_until(lambda: secrets(growing) == NAMES, "all Secrets are there")
        wait_until(lambda: bundle(growing), "the API server trusts the webhook")
        trusted = growing.get("secret", WEBHOOKS.name, "--namespace", "kube-system")
        assert bundle(growing) == trusted["data"]["ca.crt"]
        # What somebody deletes is made again by the next round.
        growing.kubectl("delete", "secret", WEBHOOKS.name, "--namespace", "kube-system")
        wait_until(lambda: secrets(growing) == NAMES, "it is there again")
    assert "certificate written" in log.read_text()
    assert "PRIVATE KEY" not in log.read_text()


def secrets(cluster: LiveCluster) -> set[str]:
    found = cluster.get("secrets", "--namespace", "kube-system")["items"]
    return {each["metadata"]["name"] for each in found} & NAMES


def bundle(cluster: LiveCluster) -> str:
    found = cluster.get("mutatingwebhookconfiguration", WEBHOOKS.configuration)
    return str(found["webhooks"][0]["clientConfig"].get("caBundle", ""))
