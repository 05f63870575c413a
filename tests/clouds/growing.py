"""A real cluster whose pools buy at the fake of Hetzner's API, and the reconciler beside it."""

from __future__ import annotations

import contextlib
import json
import re
import time
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from growth.api.wellknown import GROUP_VERSION, POOL_LABEL
from tests.clouds.datacentre import Datacentre
from tests.hetzner.build import K3S
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.records import START
from tests.hetzner.fake.serving import serve
from tests.live import IN_TIME, wait_until
from tests.thread.growing import cluster_for, deployment, reconciling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.hetzner.fake.records import Server
    from tests.live import LiveCluster

SYSTEM: Final = "growth-system"
TOKEN: Final = "cAnArYtOkEn7Q2mXw9RkT4vLpZs8BhNd3FgJyUe6AaKiVoEqHcMxPlWtSrDfGb5C"  # made up
NODE_CLASS: Final = {
    "tokenSecretRef": {"namespace": SYSTEM, "name": "hetzner", "key": "token"},
    "images": {"x86": "debian-13", "arm": "debian-13"},
    "sshKeys": ["admin"],
    "placementGroup": "None",
    "bootstrap": K3S,
}


@dataclass(frozen=True, kw_only=True)
class Site:
    """Everything that one story happens in."""

    cluster: LiveCluster
    project: Project
    account: Account
    datacentre: Datacentre
    endpoint: str
    folder: Path

    @contextlib.contextmanager
    def growing(self, **settings: str) -> Iterator[None]:
        """The reconciler, from its start to its orderly end."""
        own = {
            "GROWTH_HETZNER_ENDPOINT": self.endpoint,
            "GROWTH_LOG_LEVEL": "debug",
        }
        with reconciling(self.cluster, self.log, **{**own, **settings}):
            leads = '"message": "leading"'
            wait_until(lambda: leads in self.log.read_text(), "the process leads")
            yield

    @property
    def log(self) -> Path:
        """What the reconciler has said."""
        return self.folder / "reconciler.log"

    def keep_token(self, token: str) -> None:
        """Write the token of the project into its Secret."""
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "hetzner", "namespace": SYSTEM},
            "stringData": {"token": token},
        }
        self.apply(secret)

    def tell(self, name: str, *types: str, pool: Mapping[str, Any] = {}, **spec: Any) -> Story:
        """A story of its own begins: a node class and a pool of one name, and nothing else."""
        story = Story(place=self, name=name)
        story.makes_servers(**spec)
        listed = [{"name": each, "max": 200} for each in types or ("cx23",)]
        reference = {"kind": "HetznerNodeClass", "name": name}
        quickly = {"requestTTL": {"ready": "10m", "unmet": "3s"}, "readinessWait": "5m"}
        usual = {"serverTypes": listed, "nodeClassRef": reference}
        self.apply(ours("NodePool", name, usual | quickly | dict(pool)))
        return story

    def apply(self, document: dict[str, Any]) -> None:
        """Make an object, or change it."""
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(document))

    def metrics(self) -> str:
        """What the process tells of itself."""
        found = re.findall(r'"metrics_address": "([^"]+)"', self.log.read_text())
        with urllib.request.urlopen(f"http://{found[-1]}/metrics", timeout=60) as answer:
            return str(answer.read(), "utf-8")


@dataclass(frozen=True, kw_only=True)
class Story:
    """One pool with a node class of its own, so that no story sees another one's faults."""

    place: Site
    name: str

    def makes_servers(self, **spec: Any) -> None:
        """How servers are made, from now on."""
        self.place.apply(ours("HetznerNodeClass", self.name, NODE_CLASS | spec))

    def is_ready(self) -> None:
        """Until the node class says that machines can be made."""
        self.says("hetznernodeclass", ".status.conditions[?(@.type=='Ready')].status", "True")

    def wants(self, replicas: int, **asks: str) -> None:
        """So many pods, of which one fills a cx23."""
        requests = asks or {"cpu": "1500m", "memory": "1Gi"}
        workload = deployment(self.name, pool=self.name, replicas=replicas, **requests)
        self.place.cluster.create(workload)

    def is_served(self, count: int, *, within: float = IN_TIME) -> None:
        """Until so many pods have their node."""
        wait_until(lambda: len(self.nodes()) == count, f"{count} pods are bound", within=within)

    def nodes(self) -> list[str]:
        """Where the pods are that have a node."""
        pods = self.place.cluster.get("pods", "--selector", f"app={self.name}")["items"]
        return sorted(pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"])

    def servers(self) -> list[Server]:
        """The servers that the pool really has, but for those that are being deleted."""
        every = list(self.place.project.servers.values())
        mine = [each for each in every if each.labels.get(POOL_LABEL) == self.name]
        return [each for each in mine if each.gone_from is None]

    def types(self) -> list[str]:
        """Their types."""
        return sorted(each.body["server_type"] for each in self.servers())

    def requests(self) -> list[dict[str, Any]]:
        """What was asked for."""
        found = self.place.cluster.get("noderequests")["items"]
        return [each for each in found if each["spec"]["pool"] == self.name]

    def phases(self) -> dict[str, str]:
        """Each request, and how far it is."""
        return {each["metadata"]["name"]: each["status"]["phase"] for each in self.requests()}

    def told(self, kind: str, path: str) -> str:
        """One field of the pool or its class, as kubectl prints it."""
        read = ("get", kind, self.name, "--output", f"jsonpath={{{path}}}")
        return self.place.cluster.kubectl(*read)

    def says(self, kind: str, path: str, words: str) -> None:
        """Until the pool or its class says something."""
        goal = f"{kind} {self.name} says {words!r} at {path}"
        wait_until(lambda: words in self.told(kind, path), goal)

    def is_settled(self, count: int, *, within: float = IN_TIME) -> None:
        """Until each server serves, is known by its request, and there are no more."""

        def settled() -> bool:
            names = {server.name for server in self.servers()}
            return len(names) == count and self.phases() == dict.fromkeys(names, "Ready")

        wait_until(settled, f"{count} servers serve, and there are no more", within=within)


@contextlib.contextmanager
def cluster_of_its_own(purpose: str) -> Iterator[LiveCluster]:
    """A cluster with growth's objects: what growth buys would serve the pods of other tests too."""
    with cluster_for(purpose) as cluster:
        cluster.kubectl("create", "namespace", SYSTEM)
        yield cluster


@contextlib.contextmanager
def site(
    cluster: LiveCluster,
    folder: Path,
    *,
    datacentre_of: Callable[[Project, Path], Datacentre] = Datacentre,
) -> Iterator[Site]:
    """A new project, its servers, and what they join."""
    project = new_project()
    account = Account({TOKEN: project})
    datacentre = datacentre_of(project, cluster.kubeconfig)
    with serve(account, datacentre.run) as endpoint:
        yield Site(
            cluster=cluster,
            project=project,
            account=account,
            datacentre=datacentre,
            endpoint=endpoint,
            folder=folder,
        )


def new_project() -> Project:
    """A project whose servers take a moment to be made, at today's time."""
    project = Project(clock=lambda: time.time() - START.timestamp(), action_seconds=0.3)
    project.delete_seconds = 0.3
    project.now = time.time() - START.timestamp()
    project.bucket.filled_at = project.now
    return project


def ours(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """One of our objects."""
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
