"""The workload of a simulated cluster: pods that arrive, scale, complete and are deleted.

All of it is drawn before the start, from a separate random stream. So the same seed has the same
workload, whatever faults happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.wellknown import POOL_LABEL
from growth.api.written import Duration
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import DaemonSet, Namespace, Pod
from reconciler.simulation.chance import Chance
from reconciler.simulation.kubelets import COMPLETES_AFTER_ANNOTATION, ENDS_AFTER
from reconciler.simulation.pod_traits import NAME, POD_KINDS, drawn_traits, with_traits
from reconciler.simulation.replicas import SimulatedWorkload

if TYPE_CHECKING:
    from growth.kube.cache.resource import Key
    from reconciler.simulation.faults import SimulatedFault
    from reconciler.simulation.living import Living
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.story import Story

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
"""Requests of pods; the last one fits on no machine in the catalogue."""
CHANGES_EVERY = 45.0
"""The average seconds between two changes of the workload."""
GIVEN_UP_AFTER: Final = 1800.0
"""Seconds after which an owner deletes a pod that fits on no machine; otherwise they would pile up,
and a run of many hours would mostly be about them."""
NAMESPACE = "work"
AGENT: Final = {
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


class WorkloadWish(msgspec.Struct, frozen=True, kw_only=True):
    """A change at a time: a workload wants this many pods, or this many more that complete."""

    at: float
    workload: int
    number: int


class Workloads:
    """All workloads and their changes."""

    def __init__(self, living: Living) -> None:
        around = living.around
        self._living = living
        chance = Chance(around.story.seed, "workload")
        # All are drawn, though only some take part: a story with fewer workloads has the same ones.
        drawn = [_owner(number, chance) for number in range(64)]
        self._stateful: set[str] = set()
        """The uids of StatefulSets."""
        self._owners = drawn[: around.story.workloads]
        around.server.create("namespaces", Namespace(Metadata(name=NAMESPACE)))
        around.server.create("daemon_sets", msgspec.convert(AGENT, DaemonSet))
        around.server.kind("pods").heard_by.append(self._pod_changed)
        self._say(Chance(around.story.seed, "pod traits"), around.faults.kinds)
        for wish in wishes(around.story):
            around.timeline.at(wish.at, self._grant, wish)

    def _say(self, chance: Chance, kinds: frozenset[SimulatedFault]) -> None:
        """Let workloads say what the kinds of this story let them say."""
        if not kinds & POD_KINDS:
            return
        names = [owner.name for owner in self._owners]
        for owner, before in zip(self._owners, [names[-1], *names], strict=False):
            said = drawn_traits(chance, kinds)
            owner.template = with_traits(owner.template, said, name=owner.name, before=before)
            if said.is_stateful:
                self._stateful.add(owner.uid)
            if said.needs is not None and not _completes(owner):
                self._living.evictions.guard(
                    owner.name, namespace=NAMESPACE, selects={NAME: owner.name}, needs=said.needs
                )

    def _grant(self, wish: WorkloadWish) -> None:
        owner, replicas = self._owners[wish.workload], self._living.replicas
        if _completes(owner):
            replicas.add(owner, wish.number)
        elif owner.uid in self._stateful:
            self._living.stateful.want(owner, wish.number)
        else:
            replicas.want(owner, wish.number)

    def _pod_changed(self, event: StoredChange) -> None:
        """Delete completed pods and hopeless ones, as with the limits of a Job."""
        old, new = event.old, event.new
        if old is None and COMPLETES_AFTER_ANNOTATION in new.metadata.annotations:
            self._living.timeline.after(GIVEN_UP_AFTER, self._give_up, event.key, new)
        elif old is not None and new is not None and new.is_finished and not old.is_finished:
            self._living.kubelets.gone_after(ENDS_AFTER, event.key, new)

    def _give_up(self, key: Key, made: Pod) -> None:
        """Delete this pod if no machine could hold it; the others must still be served."""
        pod: Pod | None = self._living.server.kind("pods").objects.get(key)
        if pod is None or pod.metadata.uid != made.metadata.uid or pod.spec.node_name:
            return
        if not self._living.possible.sorts_for(pod):
            self._living.kubelets.end(key)


def _completes(owner: SimulatedWorkload) -> bool:
    return COMPLETES_AFTER_ANNOTATION in owner.template.metadata.annotations


def wishes(story: Story) -> list[WorkloadWish]:
    """All changes of the workload."""
    chance = Chance(story.seed, "wishes")
    busy = chance.between(0.5, 2.0)
    found: list[WorkloadWish] = []
    at = 15.0 * chance.random()
    while at < story.noisy:
        workload, number = chance.whole(0, 15), chance.whole(0, 12)
        # Drawn all the same, so that leaving out a workload changes nothing about the others.
        if workload < story.workloads:
            found.append(WorkloadWish(at=at, workload=workload, number=number))
        at += chance.pause(CHANGES_EVERY * busy)
    return found


def _owner(number: int, chance: Chance) -> SimulatedWorkload:
    shape, in_batch = chance.one_of(SHAPES), chance.happens(0.2)
    lasts = chance.between(20.0, 1800.0) if chance.happens(0.4) else 0.0
    return SimulatedWorkload(
        name=f"w{number}",
        uid=f"owner-{number}",
        namespace=NAMESPACE,
        template=_template(shape, pool="batch" if in_batch else "", lasts=lasts),
        pods={},
    )


def _template(shape: tuple[str, str], *, pool: str, lasts: float) -> Pod:
    cpu, memory = shape
    ends = {COMPLETES_AFTER_ANNOTATION: str(Duration(int(lasts * 1e6) * 1000))}
    document: dict[str, Any] = {
        "metadata": {"annotations": ends if lasts else {}},
        "spec": {
            "containers": [
                {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
            ],
            "nodeSelector": {POOL_LABEL: pool} if pool else {},
        },
        "status": {"phase": "Pending"},
    }
    return msgspec.convert(document, Pod)
