"""A cluster that machines join, a project whose servers boot, and the reconciler beside them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from growth.api.wellknown import POOL_LABEL
from growth.errors import GiveUp
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

    from tests.clouds.growing import Story
    from tests.hetzner.fake.records import Server
    from tests.live import LiveCluster
    from tests.machines.booting import Machine
    from tests.machines.keeping import KeptHall

ONE_A_SERVER: Final = {"cpu": "1100m", "memory": "64Mi"}
BOOTED_WITHIN: Final = 180.0
"""Seconds; seven are usual, and two servers on a busy machine took more than a minute."""


LAST_WORDS: Final = 3000
"""Characters of a server's log that a failure shows."""


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

    def makes_pool(
        self, name: str, *types: str, pool: Mapping[str, Any] = {}, **spec: Any
    ) -> Story:
        """A class for kubeadm and a pool of its name."""
        bootstrap = {**self.bootstrap(), **spec.pop("bootstrap", {})}
        times = {"requestTTL": {"ready": "10m", "unmet": "10s"}, "readinessWait": "2m"}
        story = self.site.tell(name, *types, bootstrap=bootstrap, pool={**times, **pool}, **spec)
        story.is_ready()
        return story

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

    def runs(
        self,
        name: str,
        *,
        pool: str,
        command: str = "",
        requests: Mapping[str, str] = ONE_A_SERVER,
        **more: Any,
    ) -> None:
        """A pod, which a cx23 has room for once."""
        container = {
            "name": "main",
            "image": TINY,
            "imagePullPolicy": "IfNotPresent",
            "resources": {"requests": requests},
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
        try:
            wait_until(
                lambda: {self.phase(pod) for pod in pods} == {"Running"}, goal, within=within
            )
        except AssertionError as late:
            said = [self.serial_log(machine)[-LAST_WORDS:] for machine in self.machines()]
            raise AssertionError("\n".join([str(late), *said])) from None

    def is_ending(self, pod: str) -> bool:
        """Whether a pod was told to end, and hasn't ended."""
        return "deletionTimestamp" in self.cluster.get("pod", pod)["metadata"]

    def restarts(self, pod: str) -> int:
        """How often its container was started again."""
        (container,) = self.cluster.get("pod", pod)["status"]["containerStatuses"]
        return int(container["restartCount"])

    def says(self, machine: Machine, pod: str, word: str) -> None:
        """Until a pod says something, from now on."""
        start = len(self.pod_log(machine, pod))

        def said() -> bool:
            return f" {word}\n" in self.pod_log(machine, pod)[start:]

        wait_until(said, f"pod {pod} says {word}", within=BOOTED_WITHIN)

    def pod_log(self, machine: Machine, pod: str) -> str:
        """All that a pod has said on a server."""
        logs = self.hall.folder / machine.name / "upper/var/log/pods"
        found = sorted(logs.glob(f"default_{pod}_*/main/*.log"))
        return "".join(each.read_text("utf-8", errors="replace") for each in found)

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

    def server_of(self, machine: Machine) -> Server:
        """What the project knows of a server that is on."""
        return self.site.project.servers[machine.id]

    def runs_process(self, machine: Machine, words: str) -> bool:
        """Whether a process with these words runs on a server."""
        with contextlib.suppress(GiveUp):
            return bool(self.hall.run(machine.name, f"pgrep -f '{words}' || true"))
        return False

    def ends(self) -> None:
        """Give everything back: no server and no node is left."""
        self.cluster.kubectl("delete", "deployments", "--all")
        self.cluster.kubectl("delete", "pods", "--all", "--now")
        self.cluster.kubectl("delete", "nodepools", "--all", "--wait=false")
        wait_until(lambda: not self.machines(), "the servers are gone", within=BOOTED_WITHIN)
        wait_until(lambda: not self.own_nodes(), "their nodes are gone", within=BOOTED_WITHIN)

    def own_nodes(self) -> list[str]:
        """The names of nodes that were bought."""
        found = self.cluster.get("nodes", "--selector", POOL_LABEL)["items"]
        return [each["metadata"]["name"] for each in found]

    def keeps_log(self, machine: Machine, word: str) -> None:
        """Until a server says something while it boots; its disk goes with it."""
        goal = f"server {machine.name} says {word!r}"
        wait_until(lambda: word in self.serial_log(machine), goal, within=BOOTED_WITHIN)

    def serial_log(self, machine: Machine) -> str:
        """What cloud-init and its commands have said on a server."""
        log = self.hall.folder / machine.name / "upper/var/log/cloud-init-output.log"
        return log.read_text("utf-8", errors="replace") if log.exists() else ""


@contextlib.contextmanager
def machine_site(concern: str, folder: Path, **settings: str) -> Iterator[MachineSite]:
    """A cluster, a hall and a project, with growth in between."""
    with site_without_growth(concern, folder) as place, place.site.growing(**settings):
        yield place


@contextlib.contextmanager
def site_without_growth(concern: str, folder: Path) -> Iterator[MachineSite]:
    """The same, and nobody buys."""
    with bare_site(concern, folder) as place:
        install(place.cluster)
        place.cluster.kubectl("create", "namespace", SYSTEM)
        place.site.keep_token(TOKEN)
        yield place


@contextlib.contextmanager
def bare_site(concern: str, folder: Path) -> Iterator[MachineSite]:
    """A cluster that has never heard of growth, and a project."""
    with contextlib.ExitStack() as ends:
        cluster = ends.enter_context(_joinable_cluster(concern))
        hall = ends.enter_context(hall_of(image_folder()))
        made = partial(BootingDatacentre, hall=hall)
        place = ends.enter_context(site(cluster, folder, datacentre_of=made))
        assert isinstance(place.datacentre, BootingDatacentre)
        yield MachineSite(site=place, hall=hall, datacentre=place.datacentre)


@contextlib.contextmanager
def _joinable_cluster(concern: str) -> Iterator[LiveCluster]:
    name = f"growth-test-{os.getpid()}-{concern}"
    try:
        yield bring_up(name, "--joinable")
    finally:
        bring_down(name)
