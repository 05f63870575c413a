"""A simulated API server with one workload: what a process that sizes it can see and write.

Beside it run what a cluster has: the controller of the workload, kubelets, an HPA and a VPA. Time
passes only when a test lets it.
"""

from __future__ import annotations

import copy
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from growth.kube.cache.resource import Key
from growth.kube.cache.store import Store
from growth.kube.errors import Conflict, Denied, OwnedByOthers
from growth.kube.transport import Response
from growth.scheduling.resources import parse_one
from sizing.core.world import SizingMode
from sizing.effects.hands import SizingHands
from sizing.loop import SizingLoop
from sizing.seeing.picture import sizing_world
from sizing.seeing.sources import sizing_resources, vpa_resources
from sizing.seeing.used import used_by_pods
from tests.sizing.build import NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sizing.core.actions import SizingAction
    from sizing.core.world import SizingWorld

Document = dict[str, Any]
PASS: Final = timedelta(seconds=15)
BOOT: Final = 2
"""Passes until a new pod is ready."""
LABELS: Final = {"app": "api"}
DISABLED: Final = {
    "scaleUp": {"selectPolicy": "Disabled"},
    "scaleDown": {"selectPolicy": "Disabled"},
}
INTERVALS: Final = [
    {"maxReplicas": 1, "maxResources": {"cpu": "500m", "memory": "2Gi"}},
    {"maxReplicas": 2, "maxResources": {"cpu": "1", "memory": "4Gi"}},
    {"maxReplicas": 3, "maxResources": {"cpu": "2", "memory": "8Gi"}},
    {"maxReplicas": 4, "maxResources": {"cpu": "4", "memory": "16Gi"}},
    {"maxReplicas": 5, "maxResources": {"cpu": "8", "memory": "32Gi"}},
]
REFERENCE: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}


def an_hvpa(**spec: Any) -> Document:
    overlap = {"cpu": {"percentage": 30}, "memory": {"percentage": 30}}
    usual = {
        "targetRef": REFERENCE,
        "scalingIntervals": INTERVALS,
        "scalingIntervalsOverlap": overlap,
    }
    return {
        "apiVersion": "growth.dev/v1alpha1",
        "kind": "Hvpa",
        "metadata": {"name": "api", "namespace": "shop"},
        "spec": usual | spec,
    }


def a_deployment(replicas: int = 1, **spec: Any) -> Document:
    status = {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas}
    return {
        "metadata": {"name": "api", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, **spec},
        "status": status,
    }


def a_vpa(cpu: str = "400m", mode: str = "Off", name: str = "api") -> Document:
    recommended = {"containerName": "api", "target": {"cpu": cpu}}
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"targetRef": REFERENCE, "updatePolicy": {"updateMode": mode}},
        "status": {
            "conditions": [{"type": "RecommendationProvided", "status": "True"}],
            "recommendation": {"containerRecommendations": [recommended]},
        },
    }


def a_checkpoint(samples: int) -> Document:
    return {
        "metadata": {"name": "api-api", "namespace": "shop"},
        "spec": {"vpaObjectName": "api", "containerName": "api"},
        "status": {"totalSamplesCount": samples},
    }


def an_hpa(percent: int = 80, *, behavior: Document | None = None, used: int = 0) -> Document:
    figure = {"type": "Utilization", "averageUtilization": percent}
    measured = {"name": "cpu", "current": {"averageUtilization": used}}
    return {
        "metadata": {"name": "api", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": REFERENCE,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": figure}}],
            "behavior": DISABLED if behavior is None else behavior,
        },
        "status": {
            "desiredReplicas": 1,
            "currentMetrics": [{"type": "Resource", "resource": measured}] if used else None,
        },
    }


class SizingServer:
    """Objects with versions, and what the cluster does with them by itself."""

    def __init__(self, *, requests: Document | None = None, limits: Document | None = None) -> None:
        self.objects: dict[str, dict[Key, Document]] = {}
        self.now: datetime = NOW
        self.writes: list[tuple[str, str, Any]] = []
        """Method, path after the version, and body."""
        self.template = {"requests": requests or {"cpu": "400m"}, "limits": limits or {}}
        self.dies_at: Callable[[], bool] = lambda: False
        """Whether the process dies at a request, before or after it has been done."""
        self.owner = ""
        """Who else owns the number of replicas."""
        self.largest_node: int | None = None
        """The most CPU that a pod can get."""
        self._versions = 0
        self._made = 0

    def put(self, plural: str, document: Document) -> Document:
        """Create or replace an object, as somebody else does."""
        metadata = document["metadata"]
        key = Key(metadata["namespace"], metadata["name"])
        known = self.objects.setdefault(plural, {}).get(key)
        self._versions += 1
        metadata.setdefault("generation", 1)
        metadata["uid"] = known["metadata"]["uid"] if known else f"uid-{self._versions}"
        metadata["resourceVersion"] = str(self._versions)
        self.objects[plural][key] = document
        return document

    def get(self, plural: str, name: str = "api") -> Document:
        return self.objects[plural][Key("shop", name)]

    @property
    def pods(self) -> list[Document]:
        return [each for _, each in sorted(self.objects.get("pods", {}).items())]

    @property
    def status(self) -> Document:
        found: Document = self.get("hvpas").get("status", {})
        return found

    def settle(self) -> None:
        """Let the workload's controller and the kubelets do all that they have to do."""
        deployment = self.get("deployments")
        wanted = deployment["spec"]["replicas"]
        while len(self.pods) < wanted:
            self._create_pod()
        for pod in self.pods[wanted:]:
            del self.objects["pods"][Key("shop", pod["metadata"]["name"])]
        for pod in self.pods:
            self._run(pod)
        status = {"observedGeneration": deployment["metadata"]["generation"]}
        told = {**status, "replicas": wanted, "updatedReplicas": wanted}
        if deployment["status"] != told:
            self.put("deployments", deployment | {"status": told})

    def _create_pod(self) -> None:
        self._made += 1
        owner = {"kind": "ReplicaSet", "name": "api-1", "uid": "rs", "controller": True}
        name = f"api-{self._made:03}"
        metadata = {"name": name, "namespace": "shop", "labels": LABELS, "ownerReferences": [owner]}
        container = {"name": "api", "resources": copy.deepcopy(self.template)}
        status = {"phase": "Pending", "age": 0}
        pod = {"metadata": metadata, "spec": {"containers": [container]}, "status": status}
        self.put("pods", pod)

    def _run(self, pod: Document) -> None:
        """What a kubelet reports, one step later."""
        age = pod["status"]["age"] + 1
        given = [
            {"name": each["name"], "resources": copy.deepcopy(each["resources"])}
            for each in pod["spec"]["containers"]
        ]
        ready = {"type": "Ready", "status": "True" if age > BOOT else "False"}
        status = {
            "phase": "Running",
            "age": min(age, BOOT + 1),
            "conditions": [ready],
            "containerStatuses": given,
        }
        if pod["status"] != status:
            self.put("pods", pod | {"status": status})

    async def request(
        self, method: str, path: str, *, body: Any = None, query: Any = None, **_: Any
    ) -> Response:
        """Answer a write."""
        if self.dies_at():
            raise ProcessGone
        self.writes.append((method, path.partition("/v1")[2] or path, body))
        answer = self._written(path, copy.deepcopy(body), is_forced="force" in (query or {}))
        if self.dies_at():
            raise ProcessGone
        return Response(200, {}, json.dumps(answer).encode())

    def _written(self, path: str, body: Any, *, is_forced: bool) -> Document:
        plural, name, *subresource = path.partition("/namespaces/shop/")[2].split("/")
        found = copy.deepcopy(self.get(plural, name))
        match plural, subresource:
            case "hvpas", ["status"]:
                test, change = body
                self._check(found, test["value"])
                return self._tell(found, change)
            case "deployments", ["scale"]:
                self._check(found, body["metadata"]["resourceVersion"])
                return self._scale(found, body["spec"]["replicas"], is_forced=is_forced)
            case "pods", ["resize"]:
                self._check(found, body["metadata"]["resourceVersion"])
                return self._resize(found, body["spec"]["containers"])
            case _:
                raise AssertionError(f"the process may not write {path}")

    def _tell(self, found: Document, change: Document) -> Document:
        if change["path"] == "/status":
            return self.put("hvpas", found | {"status": change["value"]})
        field = change["path"].removeprefix("/status/")
        return self.put("hvpas", found | {"status": found["status"] | {field: change["value"]}})

    def _scale(self, found: Document, count: int, *, is_forced: bool) -> Document:
        if self.owner and found["spec"]["replicas"] != count and not is_forced:
            owned = OwnedByOthers("refused")
            owned.message = f'Apply failed with 1 conflict: conflict with "{self.owner}"'
            raise owned
        metadata = found["metadata"] | {"generation": found["metadata"]["generation"] + 1}
        spec = found["spec"] | {"replicas": count}
        return self.put("deployments", found | {"metadata": metadata, "spec": spec})

    def _resize(self, found: Document, containers: list[Document]) -> Document:
        if self.largest_node is not None:
            wanted = max(parse_one("cpu", c["resources"]["requests"]["cpu"]) for c in containers)
            if wanted > self.largest_node:
                denied = Denied("refused")
                denied.message = "node didn't have enough allocatable resources: cpu"
                raise denied
        fields = [{"manager": "growth", "subresource": "resize"}]
        kept = found["metadata"].get("managedFields", [])
        metadata = found["metadata"] | {"managedFields": [*kept, *fields]}
        return self.put("pods", found | {"metadata": metadata, "spec": {"containers": containers}})

    def _check(self, found: Document, version: str) -> None:
        if found["metadata"]["resourceVersion"] != version:
            raise Conflict("the object has changed")


class ProcessGone(Exception):
    """The process ended in the middle of a pass."""


class KeptSizingSources:
    """Caches that are as current as a test lets them be."""

    def __init__(self, server: SizingServer) -> None:
        self._server = server
        resources = sizing_resources() | vpa_resources()
        self._stores: dict[str, Store[Any]] = {
            name: Store(resource) for name, resource in resources.items()
        }
        self.no_vpas = ""

    def refresh(self) -> None:
        """See everything that is there now."""
        for name, store in self._stores.items():
            documents = self._server.objects.get(name, {})
            for key, document in documents.items():
                store.put(key, store.resource.decode(json.dumps(document).encode()))
            for key in [each for each in store.objects if each not in documents]:
                store.drop(key)
            store.position = str(10**9)
            store.own.review()

    def store(self, name: str) -> Store[Any]:
        return self._stores[name]

    def objects(self, name: str) -> Mapping[Key, Any]:
        return self._stores[name].objects

    def why_no_vpas(self) -> str:
        return self.no_vpas


class SimulatedSizer:
    """A process that sizes the workload, and what it believes of its use."""

    def __init__(self, server: SizingServer, mode: SizingMode = SizingMode.OBSERVE) -> None:
        self.server = server
        self.mode = mode
        self.sources = KeptSizingSources(server)
        self.used: dict[str, Document] = {}
        """What each pod uses, as metrics-server would say."""
        self._start()

    def _start(self) -> None:
        self._hands = SizingHands(
            self.server,  # type: ignore[arg-type]
            sources=self.sources,  # type: ignore[arg-type]
            now=lambda: self.server.now,
            may_write=lambda: None,
        )
        self.loop = SizingLoop(self, now=lambda: self.server.now)

    def restart(self) -> None:
        """Begin anew, with nothing but what the server has."""
        self.sources = KeptSizingSources(self.server)
        self._start()

    def see(self) -> SizingWorld:
        self.sources.refresh()
        used = used_by_pods(self._figures(), self.server.now)
        return sizing_world(self.sources, used, self.mode)  # type: ignore[arg-type]

    def _figures(self) -> Iterator[bytes]:
        for name, usage in self.used.items():
            metadata = {"name": name, "namespace": "shop"}
            entry = {
                "metadata": metadata,
                "timestamp": self.server.now.isoformat(),
                "containers": [{"name": "api", "usage": usage}],
            }
            yield json.dumps(entry).encode()

    async def do(self, action: SizingAction) -> None:
        await self._hands.do(action)

    async def finish(self) -> None:
        """Nothing is told."""

    async def live(self, passes: int = 1) -> None:
        """So many passes, after each of which the cluster does its part."""
        for _ in range(passes):
            try:
                await self.loop.pass_once()
            except* ProcessGone:
                self.restart()
            self.server.settle()
            self.server.now += PASS


def a_story(
    *, replicas: int = 1, mode: SizingMode = SizingMode.OBSERVE, **words: Any
) -> SimulatedSizer:
    """A workload with an Hvpa, whose pods are there."""
    server = SizingServer(**words)
    server.put("deployments", a_deployment(replicas))
    server.put("hvpas", an_hvpa())
    for _ in range(BOOT + 2):
        server.settle()
    return SimulatedSizer(server, mode)
