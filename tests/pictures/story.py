"""What the pictures show: a shop whose load rises and falls, and one pod that fits nowhere."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from growth.api.wellknown import DEFAULT_POOL
from tests.live import LiveCluster, wait_until
from tests.thread.growing import EXAMPLE, deployment

NAMESPACE: Final = "shop"
SHOP: Final = {
    "web": (12, {"cpu": "500m", "memory": "1Gi"}),
    "api": (8, {"cpu": "750m", "memory": "1536Mi"}),
    "cache": (4, {"cpu": "500m", "memory": "3Gi"}),
    "worker": (6, {"cpu": "1", "memory": "1Gi"}),
}
"""Name: pods, and what each of them asks for."""
HUGE: Final = {"cpu": "1", "memory": "96Gi"}
QUICK: Final = {
    "spec": {
        "scaleDown": {"idleAfter": "10s"},
        "disruption": {"budgets": [{"nodes": "50%"}]},
    }
}
TIDES: Final = ((0.5, 30), (2.0, 25), (0.6, 35), (1.2, 20))
"""How many times as many pods, and for how many seconds."""


class Shop:
    """Its workloads in a cluster."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster

    def open(self) -> None:
        """A pool, and pods that get their nodes."""
        self._cluster.kubectl("apply", "-f", str(EXAMPLE))
        patch = ("--type=merge", "-p", json.dumps(QUICK))
        self._cluster.kubectl("patch", "nodepool", DEFAULT_POOL, *patch)
        self._cluster.kubectl("create", "namespace", NAMESPACE)
        self._create(*(self._workload(name, *shape) for name, shape in SHOP.items()))
        self._until_bound(sum(count for count, _ in SHOP.values()))

    def ask_for_too_much(self) -> str:
        """A pod that no machine has room for."""
        self._create(self._workload("import", 1, HUGE))
        wait_until(self._waiting, "the huge pod is there")
        return self._waiting()[0]

    def live(self) -> None:
        """Load rises and falls."""
        for factor, seconds in TIDES:
            self.scale(factor)
            time.sleep(seconds)

    def scale(self, factor: float) -> None:
        """So many times as many pods as in the beginning."""
        for name, (count, _) in SHOP.items():
            replicas = f"--replicas={round(count * factor)}"
            self._cluster.kubectl("scale", "deployment", name, replicas, "-n", NAMESPACE)

    def busiest_node(self) -> str:
        """A node with pods on it, to be asked about."""
        nodes = [pod["spec"].get("nodeName") for pod in self._pods()]
        found = [each for each in nodes if each]
        return str(max(sorted(set(found)), key=found.count))

    def _workload(self, name: str, count: int, requests: dict[str, str]) -> dict[str, Any]:
        return deployment(name, pool=DEFAULT_POOL, replicas=count, **requests)

    def _create(self, *objects: dict[str, Any]) -> None:
        self._cluster.create(*objects, namespace=NAMESPACE)

    def _pods(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._cluster.get("pods", "-n", NAMESPACE)["items"]
        return found

    def _waiting(self) -> list[str]:
        pods = self._pods()
        return [p["metadata"]["name"] for p in pods if p["metadata"]["name"].startswith("import")]

    def _until_bound(self, count: int) -> None:
        def bound() -> bool:
            return sum("nodeName" in pod["spec"] for pod in self._pods()) >= count

        wait_until(bound, f"{count} pods are bound")
