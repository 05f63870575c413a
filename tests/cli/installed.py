"""An API server in memory in which growth is installed as it is shipped, and well."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from certs.tending import tend
from growth.api import crd
from growth.api.written import write_time
from growth.cli.doctor.examination.admission import UNKNOWN_POOL
from growth.installation.rendering import rendered
from growth.installation.resources import object_path
from growth.installation.values import InstallationValues, ProviderChoice
from growth.kube.call import Call
from growth.kube.errors import ApiError, Status, error_of
from growth.kube.transport import Response
from tests.certs.api import Api
from tests.certs.build import finish, leading, objects

if TYPE_CHECKING:
    from growth.kube.transport import Connection

NAMESPACE = "growth-system"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/growth-reconciler"
APPS = f"/apis/apps/v1/namespaces/{NAMESPACE}"
GROWTH = "/apis/growth.dev/v1alpha1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
COLLECTIONS = (
    *("/pods", "/nodes", "records", "requests", "/leases", "/namespaces", "pools", "classes"),
    *("/deployments", "/daemonsets"),
)

Object = dict[str, Any]


@dataclass
class Cluster(Api):
    """What is stored, and what the API server does besides storing."""

    server: str = "https://memory"
    version_said: str = "1.36.3"
    refused: set[str] = field(default_factory=set)
    """Rights that nobody has, such as `patch nodes`."""
    webhook_answers: bool = True
    warning_header: str = "Warning"
    """As a proxy in between writes its name."""
    pods_are_refused: bool = False
    reviews_end_in: type[ApiError] | None = None
    """What comes of asking whether an account has a right; None: an answer."""
    metrics: dict[str, str] = field(default_factory=dict)
    """What a pod tells, by its name; one that isn't here can't be reached."""

    @override
    async def request(self, method: str, path: str, **words: Any) -> Response:
        call = Call(method=method, path=path)
        if path == "/version":
            major, minor, _ = self.version_said.split(".")
            said = {"gitVersion": f"v{self.version_said}", "major": major, "minor": minor}
            return self._answer(call, said)
        if path.endswith("accessreviews") and self.reviews_end_in is not None:
            raise self.reviews_end_in(f"{method.lower()} {path}: not for you")
        if path.endswith("accessreviews"):
            return self._answer(call, {"status": {"allowed": self._allows(words["body"]["spec"])}})
        if path.endswith("/proxy/metrics"):
            return self._metrics(call)
        if method == "POST" and "dryRun" in dict(words.get("query", ())):
            return self._rehearsed(call)
        listed = path.endswith(COLLECTIONS) and not path.endswith(tuple(self.forbidden))
        if method == "GET" and listed:
            return self._answer(call, {"metadata": {}, "items": self._listed(path, words)})
        return await super().request(method, path, **words)

    def edit(self, path: str, *steps: str | int) -> Any:
        """A part of an object, to be changed in place."""
        found: Any = self.objects[path]
        for step in steps:
            found = found[step]
        return found

    def _allows(self, spec: Object) -> bool:
        asked = spec["resourceAttributes"]
        return f"{asked['verb']} {asked['resource']}" not in self.refused

    def _metrics(self, call: Call) -> Response:
        pod = call.path.split("/pods/http:")[1].partition(":")[0]
        if pod not in self.metrics:
            raise error_of(call, code=503, said=Status(message="no route to host"), headers={})
        return Response(status=200, headers={}, body=self.metrics[pod].encode())

    def _rehearsed(self, call: Call) -> Response:
        if self.pods_are_refused:
            said = Status(message="denied by the house rules")
            raise error_of(call, code=403, said=said, headers={})
        warning = f'299 - "growth: NodePool \\"{UNKNOWN_POOL}\\" doesn\'t exist"'
        headers = {self.warning_header: warning} if self.webhook_answers else {}
        return Response(status=201, headers=headers, body=b"{}")

    def _listed(self, path: str, words: Any) -> list[Object]:
        query = dict(words.get("query", ()))
        wanted = query.get("fieldSelector", "").removeprefix("metadata.name=")
        labels = [each.split("=") for each in query.get("labelSelector", "").split(",") if each]
        return [
            each
            for key, each in sorted(self.objects.items())
            if path in {key.rpartition("/")[0], _of_all_namespaces(key)}
            if "!" in wanted or not wanted or each["metadata"]["name"] == wanted
            if all(each["metadata"].get("labels", {}).get(name) == value for name, value in labels)
        ]


def _of_all_namespaces(key: str) -> str:
    """Where objects of a kind are listed, wherever they are."""
    return re.sub("/namespaces/[^/]+/([^/]+)/[^/]+$", r"/\1", key)


def installed(provider: ProviderChoice = ProviderChoice.KWOK) -> Cluster:
    """Everything is well; keys are made once for all, as that takes its time."""
    cluster = copy.deepcopy(_installed(provider))
    cluster.now = datetime.now(UTC)
    lead(cluster)
    run_extender(cluster, "growth-extender-1", questions=12)
    return cluster


@cache
def _installed(provider: ProviderChoice) -> Cluster:
    cluster = Cluster(now=datetime.now(UTC))
    for definition in crd.definitions().values():
        status = {"conditions": [{"type": "Established", "status": "True"}]}
        cluster.put(
            f"{DEFINITIONS}/{definition['metadata']['name']}", definition | {"status": status}
        )
    for item in rendered(InstallationValues(provider=provider)):
        cluster.put(object_path(item), item | _status(item))
    finish(tend(objects(cluster), may_write=leading))
    cluster.put("/api/v1/namespaces/default", {"metadata": {"name": "default"}})
    cluster.put(f"{GROWTH}/kwoknodeclasses/default", _usable("default"))
    cluster.put(f"{GROWTH}/nodepools/default", pool("default"))
    assert cluster.bundle
    return cluster


def connection(cluster: Cluster) -> Connection:
    return cast("Connection", cluster)


def lead(
    cluster: Cluster,
    namespace: str = NAMESPACE,
    *,
    seconds_ago: float = 1.0,
    annotations: dict[str, str] | None = None,
) -> None:
    """Somebody holds the Lease, and has renewed it so long ago."""
    renewed = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    spec = {
        "holderIdentity": f"reconciler-{namespace}",
        "renewTime": renewed.isoformat(),
        "leaseDurationSeconds": 15,
    }
    metadata: dict[str, Any] = {"name": "growth-reconciler", "namespace": namespace}
    metadata["annotations"] = annotations or {}
    cluster.put(LEASE.replace(NAMESPACE, namespace), {"metadata": metadata, "spec": spec})


def run_extender(
    cluster: Cluster, name: str, *, questions: int = 0, refused: int = 0, minutes: float = 10
) -> None:
    """An extender that has run for so long, and was asked so often."""
    labels = {"app.kubernetes.io/name": "growth", "growth.dev/streams": "demand"}
    ports = [{"name": "demand", "containerPort": 1}, {"name": "metrics", "containerPort": 10281}]
    spec = {"containers": [{"name": "extender", "ports": ports}]}
    cluster.put(f"{PODS}/{name}", {"metadata": {"name": name, "labels": labels}, "spec": spec})
    since = (datetime.now(UTC) - timedelta(minutes=minutes)).timestamp()
    cluster.metrics[name] = (
        f"process_start_time_seconds {since}\n"
        f'growth_extender_verb_seconds_count{{verb="filter"}} {questions}\n'
        f"growth_extender_refused_total {refused}\n"
    )


def bind_pods(cluster: Cluster, count: int, **fields: Any) -> None:
    """So many pods have been bound just now."""
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": write_time(datetime.now(UTC)),
    }
    for number in range(count):
        name = f"bound-{number}"
        pod = {
            "metadata": {"name": name, **fields},
            "spec": {"schedulerName": "default-scheduler", "nodeName": "one"},
            "status": {"conditions": [condition]},
        }
        cluster.put(f"/api/v1/namespaces/default/pods/{name}", pod)


def run_scheduler(cluster: Cluster, *words: str) -> None:
    """A static pod, as kubeadm runs kube-scheduler."""
    metadata = {"name": "kube-scheduler-one", "labels": {"component": "kube-scheduler"}}
    spec = {"containers": [{"name": "s", "command": ["kube-scheduler", *words]}]}
    path = "/api/v1/namespaces/kube-system/pods/kube-scheduler-one"
    cluster.put(path, {"metadata": metadata, "spec": spec})


def pool(name: str, **status: Any) -> Object:
    """A pool that the reconciler has read."""
    return {
        "metadata": {"name": name, "generation": 1},
        "spec": {"serverTypes": [{"name": "cx23", "max": 3}]},
        "status": {"observedGeneration": 1, "ready": 2, **status},
    }


def _usable(name: str) -> Object:
    return {"metadata": {"name": name}, "status": {"observedGeneration": 1}}


def _status(item: Object) -> Object:
    metadata = item["metadata"]
    metadata["generation"] = 1
    match item["kind"]:
        case "Deployment":
            ready = item["spec"]["replicas"]
            counts = {"readyReplicas": ready, "updatedReplicas": ready}
            return {"status": {"observedGeneration": 1, **counts}}
        case "DaemonSet":
            names = ("desiredNumberScheduled", "numberReady", "updatedNumberScheduled")
            return {"status": {"observedGeneration": 1, **dict.fromkeys(names, 1)}}
        case _:
            return {}
