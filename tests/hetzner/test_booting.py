"""What a server does with its user data until it joins, and again after a reboot."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.hetzner.booting import (
    CONTAINERD,
    DEFAULTS,
    IDENTITY,
    PREPARE,
    Server,
    lines_of,
    started,
    stopped,
    unit_of,
)
from tests.hetzner.build import K3S, KUBEADM, joining

if TYPE_CHECKING:
    from pathlib import Path

INSTALLED = {**KUBEADM, "version": "1.34.1", "cloudProvider": "None"}
by_kind = pytest.mark.parametrize("bootstrap", [K3S, KUBEADM], ids=lambda each: each["kind"])


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


# The join


@pytest.mark.parametrize("bootstrap", [KUBEADM, INSTALLED], ids=["in the image", "installed"])
def test_a_server_boots_up_to_its_join(server: Server, bootstrap: dict[str, Any]) -> None:
    booted = server.boots(joining(bootstrap))

    assert booted.returncode == 0, booted.stderr
    (joined,) = server.called("kubeadm")
    assert joined.startswith("join --config ")


def test_the_kubelet_s_arguments_are_there_after_its_package_was_installed(server: Server) -> None:
    server.answers(id="42", address="10.0.0.7")

    booted = server.boots(joining(INSTALLED, private=True))

    assert booted.returncode == 0, booted.stderr
    extra = "KUBELET_EXTRA_ARGS=--node-ip=10.0.0.7 --provider-id=hcloud://42\n"
    assert server.read(DEFAULTS) == extra


def test_packages_are_installed_beside_files_that_the_image_brings(server: Server) -> None:
    server.path(DEFAULTS).write_text("KUBELET_EXTRA_ARGS=--from-the-image\n")

    booted = server.boots(joining(INSTALLED))

    assert booted.returncode == 0, booted.stderr
    assert "--from-the-image" not in server.read(DEFAULTS)


@pytest.mark.parametrize(
    ("default", "searched"),
    [
        ('bin_dir = "/usr/lib/cni"', 'bin_dir = "/opt/cni/bin"'),
        ('bin_dir = "/opt/cni/bin"', 'bin_dir = "/opt/cni/bin"'),
        (
            "bin_dirs = ['/opt/cni/bin', '/usr/lib/cni']",
            "bin_dirs = ['/opt/cni/bin', '/usr/lib/cni']",
        ),
    ],
    ids=["Debian 13", "Debian 12", "Debian 14"],
)
def test_containerd_finds_network_plugins_where_they_are_installed(
    server: Server, default: str, searched: str
) -> None:
    server.path("containerd-default").write_text(f"{default}\nSystemdCgroup = false\n")

    server.boots(joining(INSTALLED))

    assert server.read(CONTAINERD) == f"{searched}\nSystemdCgroup = true\n"


def test_a_kernel_setting_of_somebody_else_that_is_refused_keeps_no_server_from_joining(
    server: Server,
) -> None:
    booted = server.boots(joining(KUBEADM))

    assert booted.returncode == 0, booted.stderr
    assert server.called("sysctl") == [f"-qp {server.path('/etc/sysctl.d/90-growth.conf')}"]


# Who am I


def test_a_server_learns_its_id_and_its_private_address(server: Server) -> None:
    server.answers(id="42", address="10.0.0.7")

    server.boots(joining(K3S, private=True))

    assert server.read(IDENTITY) == "id=42\naddress=10.0.0.7\n"


@pytest.mark.parametrize("wanted", ["any", "private"])
def test_a_server_that_gets_no_answer_gives_up_within_a_quarter_of_an_hour(
    server: Server, wanted: str
) -> None:
    server.boots(joining(K3S))
    server.drops_packets()

    asked = server.runs(f"{PREPARE} {wanted}")

    assert asked.returncode == 1
    assert "no answer, or no private address" in asked.stderr
    assert server.seconds <= 15 * 60


@pytest.mark.parametrize(
    "bootstrap",
    [{**K3S, "version": "v1.34.1+k3s1"}, INSTALLED],
    ids=lambda each: each["kind"],
)
def test_every_download_has_an_end(server: Server, bootstrap: dict[str, Any]) -> None:
    server.boots(joining(bootstrap))

    assert len(server.called("curl")) == 2
    assert all("--max-time" in call for call in server.called("curl"))


# The metadata address


@by_kind
def test_what_closes_the_metadata_address_can_be_started_anew(
    server: Server, bootstrap: dict[str, Any]
) -> None:
    unit = unit_of(joining(bootstrap))

    for _ in range(3):
        assert server.runs(started(unit)).returncode == 0
        assert len(server.read("rules").splitlines()) == 2
        assert server.runs(stopped(unit)).returncode == 0
        assert server.read("rules") == ""


@by_kind
@pytest.mark.parametrize("lost", [0, 1], ids=["the first", "the second"])
def test_starting_anew_mends_a_rule_that_somebody_has_deleted(
    server: Server, bootstrap: dict[str, Any], lost: int
) -> None:
    unit = unit_of(joining(bootstrap))
    server.runs(started(unit))
    both = server.read("rules").splitlines()
    server.path("rules").write_text(f"{both[1 - lost]}\n")

    server.runs(stopped(unit))

    assert server.runs(started(unit)).returncode == 0
    assert server.read("rules").splitlines() == both


@by_kind
def test_the_rules_are_called_the_kernel_s_so_that_networkd_leaves_them(
    bootstrap: dict[str, Any],
) -> None:
    rules = lines_of(unit_of(joining(bootstrap)), "ExecStart")

    assert len(rules) == 2
    assert all(rule.endswith(" protocol kernel") for rule in rules)


@by_kind
def test_after_a_reboot_the_metadata_address_is_closed_before_pods_run(
    bootstrap: dict[str, Any],
) -> None:
    (before,) = lines_of(unit_of(joining(bootstrap)), "Before")

    assert before.split() == ["kubelet.service", "k3s-agent.service"]


@by_kind
def test_a_shutdown_opens_the_metadata_address_to_no_pod_that_still_runs(
    bootstrap: dict[str, Any],
) -> None:
    unit = unit_of(joining(bootstrap))

    # What is stopped at a shutdown conflicts with it, as every unit does by default.
    assert lines_of(unit, "DefaultDependencies") == ["no"]
    assert lines_of(unit, "Conflicts") == []
    assert lines_of(unit, "After") == ["sysinit.target"]


@by_kind
def test_systemd_finds_nothing_wrong_with_the_unit(
    tmp_path: Path, bootstrap: dict[str, Any]
) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("this machine has no systemd-analyze")
    unit = tmp_path / "growth-close-metadata.service"
    unit.write_text(unit_of(joining(bootstrap)))

    command = [analyze, "verify", "--man=no", str(unit)]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)

    assert verified.returncode == 0, verified.stderr
    assert unit.name not in verified.stderr
