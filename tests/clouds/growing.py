"""A real cluster whose pools buy at the fake of Hetzner's API, and the reconciler beside it."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from growth.api.wellknown import GROUP_VERSION
from tests.clouds.datacentre import Datacentre
from tests.hetzner.build import K3S
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.records import START
from tests.hetzner.fake.serving import serve
from tests.live import wait_until
from tests.thread.growing import deployment, reconciling, wait_until_bound

if TYPE_CHECKING:
    from collections.abc import Iterator
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
        own = {"GROWTH_HETZNER_ENDPOINT": self.endpoint, "GROWTH_LOG_LEVEL": "debug"}
        with reconciling(self.cluster, self.log, **{**own, **settings}):
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
        self._apply(secret)

    def _apply(self, document: dict[str, Any]) -> None:
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(document))

    def node_class(self, name: str = "default", /, **spec: Any) -> None:
        """How servers are made, from now on."""
        self._apply(ours("HetznerNodeClass", name, NODE_CLASS | spec))

    def pool(self, name: str = "default", /, *types: str, **spec: Any) -> None:
        """What may be bought."""
        listed = [{"name": each, "max": 200} for each in types or ("cx23",)]
        self._apply(ours("NodePool", name, {"serverTypes": listed} | spec))

    def workload(self, name: str, /, *, replicas: int, pool: str = "default", **asks: str) -> None:
        """So many pods, of which one fills a cx23."""
        requests = asks or {"cpu": "1500m", "memory": "1Gi"}
        self.cluster.create(deployment(name, pool=pool, replicas=replicas, **requests))

    def wait_until_bound(self, count: int) -> None:
        """Until so many pods have their node."""
        wait_until_bound(self.cluster, "default", count=count)

    def servers(self) -> list[Server]:
        """The servers that there really are and that nobody has asked to delete."""
        return [each for each in list(self.project.servers.values()) if each.gone_from is None]

    def told(self, kind: str, name: str, path: str) -> str:
        """One field of an object, as kubectl prints it."""
        return self.cluster.kubectl("get", kind, name, "--output", f"jsonpath={{{path}}}")

    def phases(self) -> dict[str, str]:
        """Each request, and how far it is."""
        found = self.cluster.get("noderequests")["items"]
        return {each["metadata"]["name"]: each["status"]["phase"] for each in found}

    def wait_until_told(self, kind: str, name: str, path: str, value: str) -> None:
        """Until an object says something."""
        goal = f"{kind} {name} says {value!r} at {path}"
        wait_until(lambda: value in self.told(kind, name, path), goal, within=40)

    def clear(self) -> None:
        """Everything that the story has made goes."""
        self.cluster.kubectl("delete", "deployment", "--all", "--now")


@contextlib.contextmanager
def site(cluster: LiveCluster, folder: Path) -> Iterator[Site]:
    """A project with servers that take a moment to be made, at today's time."""
    project = Project(clock=lambda: time.time() - START.timestamp(), action_seconds=0.3)
    project.delete_seconds = 0.3
    project.now = time.time() - START.timestamp()
    project.bucket.filled_at = project.now
    account = Account({TOKEN: project})
    datacentre = Datacentre(project, cluster.kubeconfig)
    with serve(account, datacentre.run) as endpoint:
        yield Site(
            cluster=cluster,
            project=project,
            account=account,
            datacentre=datacentre,
            endpoint=endpoint,
            folder=folder,
        )


def ours(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """One of our objects."""
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
