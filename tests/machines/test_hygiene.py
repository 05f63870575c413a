"""A server that is gone has left nothing behind, in the cluster and in the project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from tests.live import wait_until

if TYPE_CHECKING:
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(300)]
HISTORY: Final = {"Event"}
"""Kubernetes deletes them after an hour."""
TOKENS: Final = ("secrets", "--field-selector", "type=bootstrap.kubernetes.io/token")


def test_nothing_in_the_cluster_and_in_the_project_is_left_of_a_server_that_is_gone(
    place: MachineSite,
) -> None:
    project = place.site.project
    place.makes_pool("tidy", networks=["cluster"])
    before = len(project.ssh_keys)
    place.runs("web", pool="tidy")
    place.is_running("web")
    machine = place.only_machine()
    there = {"Node", "Lease", "NodeRecord", "NodeRequest"}
    wait_until(lambda: there <= naming(place, machine.name), "all names it", within=60)
    wait_until(lambda: not tokens(place), "its token is withdrawn", within=30)

    place.ends()

    wait_until(lambda: naming(place, machine.name) <= HISTORY, "nothing names it", within=60)
    assert certificates_asked_for(place) == {"Approved"}
    assert len(project.ssh_keys) == before
    assert not project.servers
    wait_until(lambda: not place.hall.folder.joinpath(machine.name).exists(), "nor its disk")


def naming(place: MachineSite, name: str) -> set[str]:
    """The kinds of the objects that say a name, in the whole cluster."""
    kinds = place.cluster.kubectl("api-resources", "--verbs=list", "--output=name").split()
    found = place.cluster.get(",".join(kinds), "--all-namespaces")["items"]
    return {each["kind"] for each in found if name in json.dumps(each)}


def tokens(place: MachineSite) -> list[object]:
    """The join tokens that are valid."""
    found: list[object] = place.cluster.get("--namespace", "kube-system", *TOKENS)["items"]
    return found


def certificates_asked_for(place: MachineSite) -> set[str]:
    """What became of the requests for them: the controller manager deletes those in an hour."""
    found = place.cluster.get("certificatesigningrequests")["items"]
    return {
        told["type"]
        for each in found
        for told in each["status"].get("conditions", [{"type": "None"}])
    }
