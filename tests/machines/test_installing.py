"""A server whose image lacks Kubernetes installs it from its packages (`version`).

It does all of user data that comes before `kubeadm join`, with the real apt and dpkg. No cluster is
needed for it.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import pytest

from reconciler.providers.hetzner.bootstrap import kubeadm
from tests.hetzner.build import KUBEADM, joining
from tests.live import wait_until
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of
from tests.machines.needs import skip_where_missing
from tests.machines.packages import TOOLS, PackageRepository
from tests.machines.places import halls_folder
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.machines.keeping import KeptHall

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
RELEASE: Final = "1.36.3"
JOINING: Final = joining({**KUBEADM, "version": RELEASE, "cloudProvider": "None"})
ORDER: Final = {"number": 3, "serial": "1", "memory": 2**31, "address": "172.31.0.3"}
ALONE: Final = "etc/cloud/cloud-init.disabled"
"""With this file nobody is asked who the server is."""
IDENTITY: Final = "id=42\naddress=10.0.0.7\n"
"""What the server has learnt of itself before."""


def test_kubernetes_is_installed_from_a_signed_repository(tmp_path: Path) -> None:
    skip_where_missing()
    if lacking := [each for each in TOOLS if shutil.which(each) is None]:
        pytest.skip(f"packages can't be made here: not installed: {', '.join(lacking)}")
    halls_folder().mkdir(parents=True, exist_ok=True)
    repository = PackageRepository(tmp_path, image_folder(), version=RELEASE)
    repository.make()
    with hall_of(image_folder()) as hall, repository.served_in(hall):
        steps = kubeadm.steps(JOINING)
        files = {each.path.removeprefix("/"): each.content for each in steps.files}
        changes = {**repository.on_servers(), **files, ALONE: ""}
        hall.ask("boot", name="server", changes=changes, **ORDER)
        up = "systemctl is-active containerd"
        wait_until(lambda: says(hall, up) == "active", "it is up", within=BOOTED_WITHIN)
        says(hall, f"printf '{IDENTITY}' > /run/growth")

        before_join = [each for each in steps.commands if not each.startswith(("kubeadm", "rm "))]
        done = hall.ask(
            "run", name="server", command="\n".join(["set -eu", *before_join]), within=400.0
        )

        assert done["code"] == 0, done
        assert says(hall, "apt-mark showhold").split() == ["kubeadm", "kubelet"]
        assert says(hall, "kubelet --version") == f"Kubernetes v{RELEASE}"
        extra = "KUBELET_EXTRA_ARGS=--node-ip=10.0.0.7 --provider-id=hcloud://42"
        assert says(hall, "cat /etc/default/kubelet") == extra
        configured = says(hall, "cat /etc/containerd/config.toml")
        assert "SystemdCgroup = true" in configured
        assert 'bin_dir = "/opt/cni/bin"' in configured
        assert says(hall, up) == "active"


def says(hall: KeptHall, command: str) -> str:
    """What a command prints on the server."""
    return str(hall.try_to_run("server", command)["output"]).strip()
