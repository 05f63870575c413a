"""What people and programs want of the cluster: pods that arrive, scale, end and are deleted.

All of it is drawn before the first minute, from a stream of its own: the same seed wants the same
whatever goes wrong meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.kube.errors import NotFound
from growth.kube.resource import Key
from growth.scheduling.metadata import OwnerReference
from growth.scheduling.objects import Pod
from reconciler.simulation.chance import Chance

if TYPE_CHECKING:
    from reconciler.simulation.server import Event
    from reconciler.simulation.story import Story
    from reconciler.simulation.surroundings import Surroundings

SHAPES: Final = (
    ("250m", "256Mi"),
    ("500m", "1Gi"),
    ("1", "2Gi"),
    ("1500m", "2Gi"),
    ("2", "6Gi"),
    ("3", "4Gi"),
    ("5", "12Gi"),
    ("900m", "7Gi"),
    ("64", "1Ti"),
)
"""The last one fits no machine that is sold."""
CHANGES_EVERY = 45.0
"""Seconds between two wishes, on average."""
RUNNING_AFTER = 1.0
MADE_AGAIN_AFTER = 0.5
ENDS_AFTER = 2.0
"""Seconds between the wish to end a running pod and its end."""
NAMESPACE = "work"


class Workload(msgspec.Struct, kw_only=True):
    """An owner of like pods."""

    name: str
    uid: str
    shape: tuple[str, str]
    pool: str
    lasts: float
    """Seconds that each pod runs; 0 for pods that run until they are deleted."""
    wanted: int = 0
    made: int = 0
    pods: dict[Key, None] = {}


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """From a moment on, a workload wants this many pods, or this many more that end."""

    at: float
    workload: int
    number: int


class Workloads:
    """All owners, and their controllers."""

    def __init__(self, around: Surroundings) -> None:
        story, server, timeline = around.story, around.server, around.timeline
        chance = Chance(story.seed, "workload")
        drawn = [_workload(number, chance) for number in range(64)]
        self.workloads = drawn[: story.workloads]
        self._server = server
        self._timeline = timeline
        self._owners = {each.uid: each for each in self.workloads}
        server.kind("pods").heard_by.append(self._pod_changed)
        for wish in wishes(story):
            timeline.at(wish.at, self._grant, wish)

    def _grant(self, wish: Wish) -> None:
        workload = self.workloads[wish.workload]
        if workload.lasts:
            workload.wanted = 0
            for _ in range(wish.number):
                self._make(workload)
        else:
            workload.wanted = wish.number
            self._level(workload)

    def _level(self, workload: Workload) -> None:
        for _ in range(workload.wanted - len(workload.pods)):
            self._make(workload)
        excess = len(workload.pods) - workload.wanted
        for key in tuple(workload.pods)[: max(0, excess)]:
            self._end(key)

    def _make(self, workload: Workload) -> None:
        workload.made += 1
        pod = _pod(workload)
        workload.pods[Key(NAMESPACE, pod.metadata.name)] = None
        self._server.create("pods", pod)

    def _pod_changed(self, event: Event) -> None:
        pod = event.new or event.old
        owner = pod.metadata.controller
        workload = self._owners.get(owner.uid) if owner is not None else None
        if workload is None:
            return
        if event.new is None:
            if workload.pods.pop(event.key, event.key) is None and not workload.lasts:
                self._timeline.after(MADE_AGAIN_AFTER, self._level, workload)
        elif event.old is not None and not event.old.spec.node_name and event.new.spec.node_name:
            self._timeline.after(RUNNING_AFTER, self._run, event.key, pod.metadata.uid, workload)

    def _run(self, key: Key, uid: str, workload: Workload) -> None:
        if self._phase(key, uid, "Running") and workload.lasts:
            self._timeline.after(workload.lasts, self._finish, key, uid)

    def _finish(self, key: Key, uid: str) -> None:
        if self._phase(key, uid, "Succeeded"):
            self._timeline.after(ENDS_AFTER, self._gone, key, uid)

    def _end(self, key: Key) -> None:
        """A deletion as people ask for it: what runs has a moment to end."""
        pod = self._server.kind("pods").objects[key]
        if not pod.spec.node_name:
            self._server.delete("pods", key)
        elif not pod.is_terminating:
            stamp = self._server.wall.isoformat()
            self._server.change("pods", key, lambda found: with_deletion(found, stamp))
            self._timeline.after(ENDS_AFTER, self._gone, key, pod.metadata.uid)

    def _gone(self, key: Key, uid: str) -> None:
        pod = self._server.kind("pods").objects.get(key)
        if pod is not None and pod.metadata.uid == uid:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        try:
            self._server.delete("pods", key)
        except NotFound:
            return

    def _phase(self, key: Key, uid: str, phase: str) -> bool:
        pod = self._server.kind("pods").objects.get(key)
        if pod is None or pod.metadata.uid != uid or pod.is_terminating:
            return False
        self._server.change("pods", key, lambda found: with_phase(found, phase))
        return True


def wishes(story: Story) -> list[Wish]:
    """Everything that will be wanted."""
    chance = Chance(story.seed, "wishes")
    busy = chance.between(0.5, 2.0)
    found: list[Wish] = []
    at = 15.0 * chance.random()
    while at < story.noisy:
        workload, number = chance.whole(0, 15), chance.whole(0, 12)
        if workload < story.workloads:
            found.append(Wish(at=at, workload=workload, number=number))
        at += chance.pause(CHANGES_EVERY * busy)
    return found


def _workload(number: int, chance: Chance) -> Workload:
    return Workload(
        name=f"w{number}",
        uid=f"owner-{number}",
        shape=chance.one_of(SHAPES),
        pool="batch" if chance.happens(0.2) else "",
        lasts=chance.between(20.0, 1800.0) if chance.happens(0.4) else 0.0,
        pods={},
    )


def _pod(workload: Workload) -> Pod:
    cpu, memory = workload.shape
    document: dict[str, Any] = {
        "metadata": {"name": f"{workload.name}-{workload.made}", "namespace": NAMESPACE},
        "spec": {
            "containers": [
                {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
            ]
        },
        "status": {"phase": "Pending"},
    }
    if workload.pool:
        document["spec"]["nodeSelector"] = {"growth.dev/pool": workload.pool}
    pod = msgspec.convert(document, Pod)
    owner = OwnerReference(
        kind="ReplicaSet",
        name=workload.name,
        uid=workload.uid,
        api_version="apps/v1",
        controller=True,
    )
    metadata = msgspec.structs.replace(pod.metadata, owner_references=(owner,))
    return msgspec.structs.replace(pod, metadata=metadata)


def with_phase(pod: Pod, phase: str) -> Pod:
    """The pod in a phase."""
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase=phase))


def with_deletion(pod: Pod, stamp: str) -> Pod:
    """The pod, its end asked for."""
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=stamp)
    return msgspec.structs.replace(pod, metadata=metadata)
