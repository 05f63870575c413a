"""The others who work in a cluster: controllers that follow nodes, and a person who tidies up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.daemonsets import daemon_pods
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import DaemonSet, Namespace, Pod
from reconciler.simulation.workload import NAMESPACE

if TYPE_CHECKING:
    from growth.kube.resource import Key
    from growth.scheduling.node import Node
    from reconciler.simulation.cloud import Cloud
    from reconciler.simulation.server import Event
    from reconciler.simulation.surroundings import Surroundings

PODS_COLLECTED_AFTER: Final = 40.0
"""Seconds until the pods of a node that is gone are gone too."""
DAEMON_MADE_AFTER: Final = 0.2
TIDIED_EVERY: Final = 900.0
"""Seconds between two rounds of the person who gives empty machines back. There is no removal room
yet, and without anybody a cluster would only grow."""
TIDIED_AT_MOST: Final = 8
DAEMON: Final = {
    "metadata": {"name": "agent", "namespace": "system", "uid": "agent"},
    "spec": {
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "agent",
                        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                    }
                ],
                "tolerations": [{"operator": "Exists"}],
            }
        }
    },
}


class Controllers:
    """Pods of lost nodes, pods of DaemonSets, empty machines."""

    def __init__(self, around: Surroundings, cloud: Cloud) -> None:
        self._server = server = around.server
        self._cloud = cloud
        self._timeline = timeline = around.timeline
        self._daemon_set = msgspec.convert(DAEMON, DaemonSet)
        server.create("namespaces", Namespace(Metadata(name=NAMESPACE)))
        server.create("daemon_sets", self._daemon_set)
        server.kind("nodes").heard_by.append(self._node_changed)
        for number in range(1, int(around.story.noisy / TIDIED_EVERY) + 1):
            timeline.at(number * TIDIED_EVERY, self._tidy)

    def _node_changed(self, event: Event) -> None:
        name = event.key.name
        if event.new is None:
            self._timeline.after(PODS_COLLECTED_AFTER, self._collect, name)
        elif event.old is None:
            self._timeline.after(DAEMON_MADE_AFTER, self._make_daemon, name)

    def _make_daemon(self, name: str) -> None:
        node: Node | None = self._server.kind("nodes").named(name)
        if node is not None:
            for pod in daemon_pods(node, (self._daemon_set,)):
                self._server.create("pods", _unnamed(pod))

    def _collect(self, name: str) -> None:
        if self._server.kind("nodes").named(name) is None:
            for key in self._pods_on(name):
                self._server.delete("pods", key)

    def _tidy(self) -> None:
        """The oldest empty machines, as long as nothing waits for them."""
        empty = (name for name in self._cloud.machines if self._is_idle(name))
        for name in tuple(empty)[:TIDIED_AT_MOST]:
            self._cloud.retire(name)

    def _is_idle(self, name: str) -> bool:
        node: Node | None = self._server.kind("nodes").named(name)
        if node is None or not node.is_ready or self._server.kind("NodeRequest").named(name):
            return False
        pods = self._server.kind("pods")
        return all(pods.objects[key].is_of_daemon_set for key in self._pods_on(name))

    def _pods_on(self, node: str) -> list[Key]:
        pods = self._server.kind("pods").objects
        return [key for key, pod in pods.items() if pod.spec.node_name == node]


def _unnamed(pod: Pod) -> Pod:
    """As its controller makes it: a new uid each time."""
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, uid=""))
