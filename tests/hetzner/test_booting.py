"""What a server does with its user data until it joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.hetzner.booting import (
    CONTAINERD,
    DEFAULTS,
    Server,
)
from tests.hetzner.build import KUBEADM, joining

if TYPE_CHECKING:
    from pathlib import Path

INSTALLED = {**KUBEADM, "version": "1.34.1", "cloudProvider": "None"}


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
