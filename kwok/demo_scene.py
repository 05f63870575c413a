"""What the demo sees while it runs: pods, machines and requests, read again and again.

A read takes some milliseconds, so the times it prints are exact to a few hundredths of a second.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.errors import GiveUp
from kwok.answering import answer_of
from kwok.apiserver import ApiServerAnswer, ask_api_server
from kwok.demo_figures import DemoOffer, name_of_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kwok.clusters import LocalCluster

PATIENCE: Final = 90.0
"""Seconds for each step, which usually takes 5 to 20; a busy machine needs more."""
_PAUSE: Final = 0.02
_REST: Final = 8.0
"""Seconds without a change after which the cluster counts as settled."""
_DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
_PATHS: Final = {
    "pods": "/api/v1/namespaces/default/pods",
    "nodes": "/api/v1/nodes?labelSelector=growth.dev%2Fpool",
    "removals": "/apis/growth.dev/v1alpha1/noderemovalrequests",
    "requests": "/apis/growth.dev/v1alpha1/noderequests",
}


class Rest(NamedTuple):
    """The cluster has settled."""

    since: float
    """Time of the last change."""
    reasons: Mapping[str, str]
    """The reason for which each machine was given back."""


class DemoScene:
    """A cluster, as the demo sees it."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster

    def pods(self) -> list[Any]:
        """All pods of the demo."""
        return self._items("pods")

    def requests(self) -> list[Any]:
        """All NodeRequests."""
        return self._items("requests")

    def bound(self) -> int:
        """Number of bound pods."""
        return sum("nodeName" in pod["spec"] for pod in self.pods())

    def serving(self) -> int:
        """Number of Ready machines."""
        return sum(_is_ready(node) for node in self._items("nodes"))

    def machines(self) -> set[str]:
        """The names of existing machines."""
        return {str(each["metadata"]["name"]) for each in self._items("nodes")}

    def offers(self) -> dict[str, DemoOffer]:
        """The offer of each machine."""
        return {name_of_request(each): DemoOffer.of(each) for each in self.requests()}

    def settled(self, pods: int) -> Rest:
        """Wait until this many pods are bound, machines have gone, and nothing changes any more."""
        last = first = self.machines()
        moved, reasons = time.monotonic(), dict[str, str]()

        def rests() -> bool:
            nonlocal last, moved
            machines, removals = self.machines(), self._items("removals")
            reasons.update(
                (name_of_request(each), str(each["spec"]["reason"])) for each in removals
            )
            is_moving = removals or len(self.pods()) != pods or self.bound() != pods
            if is_moving or machines != last:
                last, moved = machines, time.monotonic()
            return machines != first and time.monotonic() - moved > _REST

        until(rests, "everything has come to rest")
        return Rest(moved, reasons)

    def unmet(self) -> list[Any]:
        """The requests for which the provider had no machine."""
        return [each for each in self.requests() if _phase(each) == "Unmet"]

    def _items(self, kind: str) -> list[Any]:
        answer = ask_api_server(self._cluster, _PATHS[kind])
        return list(answer.body["items"]) if answer.status == 200 else []


def _is_ready(node: Mapping[str, Any]) -> bool:
    conditions = node["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _phase(request: Mapping[str, Any]) -> str:
    return str(request.get("status", {}).get("phase", ""))


def until(done: Callable[[], object], goal: str) -> float:
    """Wait for a goal; returns the time at which it was reached."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise GiveUp(f"{goal}: not within {PATIENCE:.0f} s; try make demo KEEP=1")
        time.sleep(_PAUSE)
    return time.monotonic()


def create(cluster: LocalCluster, deployments: Sequence[Mapping[str, Any]]) -> None:
    """Create all deployments at the same time, as in a release."""
    with ThreadPoolExecutor(len(deployments)) as people:
        answers = list(people.map(lambda each: _created(cluster, each), deployments))
    for answer in answers:
        if answer.status != 201:
            raise GiveUp(f"a deployment was refused: {answer.body or answer.status}")


def _created(cluster: LocalCluster, deployment: Mapping[str, Any]) -> ApiServerAnswer:
    return ask_api_server(cluster, _DEPLOYMENTS, method="POST", content=deployment)


def on_paper(*manifests: str) -> Any:
    """What `growth plan` says about these manifests, without a cluster."""
    command = [sys.executable, "-m", "growth.cli", "plan", "-f", "-", "-o", "json"]
    given = "\n---\n".join(manifests)
    done = answer_of(command, within=PATIENCE, given=given)
    if done.returncode != 0:
        raise GiveUp(f"growth plan failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def deployment(name: str, replicas: int, requests: Mapping[str, str]) -> dict[str, Any]:
    """A deployment of identical pods."""
    container = {"name": "main", "image": name, "resources": {"requests": dict(requests)}}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }
