"""A cluster that machines join, a project whose servers boot, and the reconciler beside them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from growth.api.wellknown import POOL_LABEL
from kwok.clusters import find_cluster
from kwok.joining import MACHINES_ENDPOINT, hash_of_ca
from tests.clouds.growing import SYSTEM, TOKEN, Site, site
from tests.live import bring_down, bring_up, wait_until
from tests.machines.archive import TINY
from tests.machines.booting import BootingDatacentre
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of
from tests.thread.growing import install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.live import LiveCluster
    from tests.machines.booting import Machine
    from tests.machines.keeping import KeptHall

BOOTED_WITHIN: Final = 60.0
"""Seconds from a pod to its server and on; six are usual."""


@dataclass(frozen=True, kw_only=True)
class MachineSite:
    """Everything that one story of real machines happens in."""

    site: Site
    hall: KeptHall
    datacentre: BootingDatacentre

    @property
    def cluster(self) -> LiveCluster:
        """The cluster that they join."""
        return self.site.cluster

    def makes_pool(self, name: str, *, pool: Mapping[str, Any] = {}, **spec: Any) -> None:
        """A class for kubeadm and a pool of its name."""
        bootstrap = {**self.bootstrap(), **spec.pop("bootstrap", {})}
        times = {"requestTTL": {"ready": "10m", "unmet": "10s"}, "readinessWait": "2m"}
        story = self.site.tell(name, bootstrap=bootstrap, pool={**times, **pool}, **spec)
        story.is_ready()

    def bootstrap(self) -> dict[str, Any]:
        """How servers join this cluster, without a cloud controller."""
        return {
            "kind": "Kubeadm",
            "server": MACHINES_ENDPOINT,
            "caHash": self.ca_hash(),
            "cloudProvider": "None",
        }

    def ca_hash(self) -> str:
        """How servers verify the API server."""
        known = find_cluster(self.cluster.name)
        assert known is not None
        return hash_of_ca(known)

    def runs(self, name: str, *, pool: str, command: str = "", **more: Any) -> None:
        """A pod, which a cx23 has room for once."""
        container = {
            "name": "main",
            "image": TINY,
            "imagePullPolicy": "IfNotPresent",
            "resources": {"requests": {"cpu": "1100m", "memory": "64Mi"}},
            **({"command": ["sh", "-c", command]} if command else {}),
        }
        spec = {
            "nodeSelector": {POOL_LABEL: pool},
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
            **more,
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        self.cluster.create(pod)

    def phase(self, pod: str) -> str:
        """The phase of a pod; empty if it is gone."""
        read = ("get", "pod", pod, "--ignore-not-found", "--output", "jsonpath={.status.phase}")
        return self.cluster.kubectl(*read)

    def is_running(self, *pods: str, within: float = BOOTED_WITHIN) -> None:
        """Until these pods run."""
        goal = f"pods run: {', '.join(pods)}"
        wait_until(lambda: {self.phase(pod) for pod in pods} == {"Running"}, goal, within=within)

    def node(self, name: str) -> dict[str, Any]:
        """A node."""
        found: dict[str, Any] = self.cluster.get("node", name)
        return found

    def machines(self) -> list[Machine]:
        """The servers that are switched on."""
        return list(self.datacentre.machines.values())

    def only_machine(self) -> Machine:
        """The one that there is."""
        (machine,) = self.machines()
        return machine

    def ends(self, pool: str) -> None:
        """Give everything back: no server and no node is left."""
        self.cluster.kubectl("delete", "pods", "--all", "--now")
        self.cluster.kubectl("delete", "nodepool", pool, "--wait=false")
        wait_until(lambda: not self.machines(), "the servers are gone", within=BOOTED_WITHIN)
        wait_until(lambda: not self.own_nodes(), "their nodes are gone", within=BOOTED_WITHIN)

    def own_nodes(self) -> list[str]:
        """The names of nodes that were bought."""
        found = self.cluster.get("nodes", "--selector", POOL_LABEL)["items"]
        return [each["metadata"]["name"] for each in found]

    def serial_log(self, machine: Machine) -> str:
        """What cloud-init and its commands have said on a server."""
        log = self.hall.folder / machine.name / "upper/var/log/cloud-init-output.log"
        return log.read_text("utf-8", errors="replace") if log.exists() else ""


@contextlib.contextmanager
def machine_site(concern: str, folder: Path) -> Iterator[MachineSite]:
    """A cluster, a hall and a project, with growth in between."""
    with contextlib.ExitStack() as ends:
        cluster = ends.enter_context(_joinable_cluster(concern))
        hall = ends.enter_context(hall_of(image_folder()))
        made = partial(BootingDatacentre, hall=hall)
        place = ends.enter_context(site(cluster, folder, datacentre_of=made))
        place.keep_token(TOKEN)
        ends.enter_context(place.growing())
        assert isinstance(place.datacentre, BootingDatacentre)
        yield MachineSite(site=place, hall=hall, datacentre=place.datacentre)


@contextlib.contextmanager
def _joinable_cluster(concern: str) -> Iterator[LiveCluster]:
    name = f"growth-test-{os.getpid()}-{concern}"
    try:
        cluster = bring_up(name, "--joinable")
        install(cluster)
        cluster.kubectl("create", "namespace", SYSTEM)
        yield cluster
    finally:
        bring_down(name)
