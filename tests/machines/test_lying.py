"""A kubelet may write its own Node: what it says there changes nothing for growth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.wellknown import POOL_LABEL
from tests.live import wait_until
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from tests.machines.booting import Machine
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(300)]
CREDENTIALS: Final = "/var/lib/kubelet/pki/kubelet-client-current.pem"
LIES: Final = {
    "metadata": {
        "labels": {
            POOL_LABEL: "other",
            "growth.dev/instance-type": "cx33",
            "growth.dev/node-request": "another",
        },
        "annotations": {
            "growth.dev/price": "1e999999",
            "growth.dev/bought-at": "0001-01-01T00:00:00+14:00",
            "growth.dev/scale-down-at": "2020-01-01T00:00:00Z",
        },
    }
}


def test_a_kubelet_that_lies_about_its_node_is_given_back_as_it_was_bought(
    place: MachineSite,
) -> None:
    place.makes_pool("honest")
    place.makes_pool("other")
    place.runs("web", pool="honest")
    place.is_running("web")
    machine = place.only_machine()

    patched = as_kubelet(place, machine, LIES)

    assert patched["metadata"]["labels"][POOL_LABEL] == "other"
    wait_until(
        lambda: labels(place, machine)[POOL_LABEL] == "honest", "it is written back", within=60
    )
    wait_until(lambda: records(place) == {machine.name: "honest"}, "one record", within=60)
    assert place.phase("web") == "Running"
    place.cluster.kubectl("delete", "pod", "web", "--now")
    place.cluster.kubectl("delete", "nodepool", "honest", "--wait=false")
    wait_until(lambda: not place.machines(), "the server is gone", within=BOOTED_WITHIN)
    wait_until(lambda: not place.own_nodes(), "and its node", within=BOOTED_WITHIN)
    assert place.site.project.servers == {}


def as_kubelet(place: MachineSite, machine: Machine, patch: dict[str, Any]) -> dict[str, Any]:
    """Change its Node as the kubelet of a server."""
    own = f"--cacert /etc/kubernetes/pki/ca.crt --cert {CREDENTIALS} --key {CREDENTIALS}"
    merge = "--header 'Content-Type: application/merge-patch+json'"
    node = f"https://10.0.0.2:6443/api/v1/nodes/{machine.name}"
    command = f"curl -sS --request PATCH {own} {merge} --data '{json.dumps(patch)}' {node}"
    answer: dict[str, Any] = json.loads(place.hall.run(machine.name, command))
    return answer


def labels(place: MachineSite, machine: Machine) -> dict[str, str]:
    found: dict[str, str] = place.node(machine.name)["metadata"]["labels"]
    return found


def records(place: MachineSite) -> dict[str, str]:
    """The pool of each machine that growth has a record of."""
    found = place.cluster.get("noderecords")["items"]
    return {each["metadata"]["name"]: each["spec"]["pool"] for each in found}
