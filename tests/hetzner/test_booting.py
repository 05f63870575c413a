"""What a server does with its user data until it joins, and again after a reboot."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.hetzner.booting import (
    CONTAINERD,
    DEFAULTS,
    IDENTITY,
    NETWORK,
    PREPARE,
    Server,
    lines_of,
    started,
    stopped,
    unit_of,
)
from tests.hetzner.build import CA_HASH, JOIN_TOKEN, K3S, KUBEADM, joining

if TYPE_CHECKING:
    from pathlib import Path

SET_BY_A_CLOUD_CONTROLLER = (
    "instance.hetzner.cloud/provided-by=cloud",
    "node.kubernetes.io/instance-type=cx23",
    "topology.kubernetes.io/region=nbg1",
    "topology.kubernetes.io/zone=nbg1-dc3",
)
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

    booted = server.boots(joining(INSTALLED, network=NETWORK))

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

    server.boots(joining(K3S, network=NETWORK))

    assert server.read(IDENTITY) == "id=42\naddress=10.0.0.7\n"


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
def test_the_node_s_address_is_that_in_the_first_network_of_the_class(
    server: Server, order: int
) -> None:
    server.is_in(dict([(NETWORK, "10.0.0.7"), (7, "192.168.0.7")][::order]))

    server.boots(joining(K3S, network=NETWORK))

    assert server.read(IDENTITY) == "id=42\naddress=10.0.0.7\n"


def test_an_address_in_another_network_is_no_reason_to_join(server: Server) -> None:
    server.is_in({7: "192.168.0.7"})

    booted = server.boots(joining(K3S, network=NETWORK))

    assert booted.returncode == 1
    assert "systemctl enable --now k3s-agent" not in server.calls()


@by_kind
def test_a_server_whose_image_lacks_curl_says_so_at_once(
    server: Server, bootstrap: dict[str, Any]
) -> None:
    server.lacks("curl")

    booted = server.boots(joining(bootstrap))

    assert booted.returncode == 1
    assert "this image has no curl" in booted.stderr
    assert "sleep 5" not in server.calls()


@pytest.mark.parametrize("wanted", ["any", str(NETWORK)])
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
def test_every_download_has_an_end_and_says_why_it_failed(
    server: Server, bootstrap: dict[str, Any]
) -> None:
    server.boots(joining(bootstrap))

    assert len(server.called("curl")) == 2
    assert all("--max-time" in call for call in server.called("curl"))
    assert any("-sSfL" in call for call in server.called("curl"))


@pytest.mark.parametrize("cloud_controller", ["External", "None"])
def test_k3s_finds_all_that_it_is_told_before_its_installer_starts_it(
    server: Server, cloud_controller: str
) -> None:
    kubelet = {"maxPods": 200, "reserved": {"cpu": "250m"}}
    told = {"version": "v1.34.1+k3s1", "caHash": CA_HASH, "cloudProvider": cloud_controller}
    server.answers(id="42", address="10.0.0.7")

    booted = server.boots(joining({**K3S, **told, "kubelet": kubelet}, network=NETWORK))

    assert booted.returncode == 0, booted.stderr
    assert [each for each in server.calls() if "169.254" not in each] == [
        "systemctl daemon-reload",
        "systemctl enable --now growth-close-metadata.service",
        "ip -4 addr show",
        "curl -sSfL --retry 5 --max-time 60 https://get.k3s.io -o /run/install-k3s",
        "k3s agent v1.34.1+k3s1",
    ]
    agent = told_to_agent(server.path("seen"))
    external = cloud_controller == "External"
    assert sorted(agent.pop("kubelet-arg")) == [
        *(["cloud-provider=external"] if external else []),
        "eviction-hard=memory.available<100Mi,nodefs.available<10%",
        "kube-reserved=cpu=250m",
        "max-pods=200",
        *([] if external else ["provider-id=hcloud://42"]),
    ]
    assert agent == {
        "server": "https://10.0.0.2:6443",
        "token": f"K10{'5e' * 32}::{JOIN_TOKEN}",
        "node-name": "default-1",
        "node-ip": "10.0.0.7",
        "node-label": [
            "growth.dev/node-request=default-1",
            "growth.dev/pool=default",
            *([] if external else SET_BY_A_CLOUD_CONTROLLER[:2]),
            "team=shop",
            *([] if external else SET_BY_A_CLOUD_CONTROLLER[2:]),
        ],
        "node-taint": ["growth.dev/unregistered=:NoSchedule", "team=shop:NoExecute"],
    }


def test_k3s_in_the_image_is_started_and_nothing_is_downloaded(server: Server) -> None:
    booted = server.boots(joining(K3S))

    assert booted.returncode == 0, booted.stderr
    assert server.calls()[-1] == "systemctl enable --now k3s-agent"
    assert told_to_agent(server.path("etc/rancher/k3s"))["node-name"] == "default-1"


def told_to_agent(folder: Path) -> dict[str, Any]:
    """What k3s makes of its configuration: later files win, and a key with a plus adds."""
    told: dict[str, Any] = {}
    for file in [folder / "config.yaml", *sorted(folder.glob("config.yaml.d/*.yaml"))]:
        for key, value in yaml.safe_load(file.read_text()).items():
            name = key.removesuffix("+")
            told[name] = told[name] + value if key.endswith("+") else value
    return told


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
