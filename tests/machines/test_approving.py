"""Real kubelets join where growth-certs approves their certificates (`joinApproval: Growth`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from growth.api.joining import JoinApproval
from growth.installation.rendering import rendered
from growth.installation.values import InstallationValues
from tests.certs.joining import pem_for, signing_request
from tests.live import wait_until
from tests.machines.needs import skip_where_missing
from tests.machines.sites import BOOTED_WITHIN, machine_site
from tests.manifests.asking import asked
from tests.manifests.test_join_approval import REQUESTS, with_token
from tests.thread.growing import reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.machines.booting import Machine
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(300)]
APPROVES: Final = {"GROWTH_JOIN_APPROVAL": "Growth"}
RIGHTS: Final = [
    each
    for each in rendered(InstallationValues(join_approval=JoinApproval.GROWTH))
    if each["metadata"]["name"].startswith("growth-joining")
]
"""What machines may do that are in growth's group."""


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSite]:
    skip_where_missing()
    folder = tmp_path_factory.mktemp("machines")
    with machine_site("approving", folder, **APPROVES) as place:
        for each in RIGHTS:
            place.site.apply(each)
        log = folder / "certs.log"
        with reconciling(place.cluster, log, started_by=("-m", "certs"), **APPROVES):
            yield place


def test_a_kubelet_joins_with_growths_approval(place: MachineSite) -> None:
    place.makes_pool("approved")
    place.runs("web", pool="approved")

    place.is_running("web")

    assert {reason for each in requests(place) for reason in reasons(each)} == {"MachineIsComing"}


def test_a_token_that_another_machine_uses_lets_only_its_own_in(
    place: MachineSite, tmp_path: Path
) -> None:
    place.datacentre.plugs_private_network = False
    place.makes_pool("stolen", networks=["cluster"])
    place.runs("web", pool="stolen")
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    machine = place.only_machine()
    thief = tmp_path / "kubeconfig"
    thief.write_text(with_token(place.cluster, token_in(machine)))
    foreign = signing_request("foreign", pem_for("system:node:foreign"))
    assert '"name":"foreign"' in asked(thief, "POST", REQUESTS, foreign)

    place.datacentre.plugs_private_network = True

    place.is_running("web")
    [left] = [each for each in requests(place) if each["metadata"]["name"] == "foreign"]
    assert left["status"] == {}


def token_in(machine: Machine) -> str:
    """The join token in the user data of a server."""
    files = yaml.safe_load(machine.user_data)["write_files"]
    [join] = [each["content"] for each in files if each["path"].endswith("growth-join.yaml")]
    return str(yaml.safe_load(join)["discovery"]["bootstrapToken"]["token"])


def requests(place: MachineSite) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = place.cluster.get("certificatesigningrequests")["items"]
    return found


def reasons(request: dict[str, Any]) -> list[str]:
    """Why it was decided as it was."""
    return [each["reason"] for each in request["status"].get("conditions", [])]
