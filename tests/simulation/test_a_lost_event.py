"""What the API server has said counts, also where no event and for long no list shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.simulation.caches import Cache
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.kubelets import COMPLETES_AFTER_ANNOTATION
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.story import Story
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.simulation.server import StoredChange

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
LISTED_AFTER = 300.0
"""Seconds that a list of NodeRequests takes: much longer than a create is tried."""
VISITOR = "visitor"


class MissesTheFirstRequest(Cache):
    """The event of the first NodeRequest is lost, and the list that shows it takes long."""

    has_lost_one = False

    @override
    def _hear(self, event: StoredChange) -> None:
        if self._is_of_requests and event.old is None and not self.has_lost_one:
            self.has_lost_one = True
        else:
            super()._hear(event)

    @override
    def connect(self) -> None:
        if self._is_of_requests and self.has_lost_one:
            self._timeline.after(LISTED_AFTER, self._arrive, self._connected, self._connection)
        else:
            super().connect()

    @property
    def _is_of_requests(self) -> bool:
        return self.kind.name == "NodeRequest"


class NeverHearsOfTheVisitor(Cache):
    """All events of one pod are lost; lists show it."""

    @override
    def _hear(self, event: StoredChange) -> None:
        if event.key.name != VISITOR:
            super()._hear(event)


def town(cache: type[Cache], *pods: Pod) -> Living:
    """A pool of at most two machines with four CPUs each, and pods that wait for them."""
    living = Living(CALM, SimulatedJoining.WHILE_BOOTING, parts=Parts(cache=cache))
    sold = {"name": "only", "resources": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    offers = {"offers": [{"location": "here", "price": "0.01"}]}
    documents: tuple[tuple[str, type[Any], dict[str, Any]], ...] = (
        ("KwokNodeClass", KwokNodeClass, {"types": [sold | offers]}),
        ("NodePool", NodePool, {"serverTypes": [{"name": "only", "max": 2}]}),
    )
    for kind, model, spec in documents:
        document = {"metadata": {"name": "default"}, "spec": spec}
        living.server.create(kind, model.model_validate(document))
    living.server.create("namespaces", Namespace(Metadata(name="work")))
    for pod in pods:
        living.server.create("pods", pod)
    living.lives.begin()
    return living


def asking(name: str, *, cpu: str, **annotations: str) -> Pod:
    own = {"namespace": "work", "uid": name, "annotations": annotations}
    return build.pod(name, requests={"cpu": cpu}, metadata=own, status={"phase": "Pending"})


def test_a_request_that_the_server_has_made_counts_until_a_list_shows_it() -> None:
    pods = (asking(f"web-{number}", cpu="3") for number in range(3))
    living = town(MissesTheFirstRequest, *pods)
    living.timeline.run(2 * LISTED_AFTER)
    assert living.auditor.found is None, living.auditor.found
    assert living.cloud.bought == 2


def test_a_pod_that_only_the_last_look_finds_is_known_from_then_on() -> None:
    batch = asking("batch", cpu="3", **{COMPLETES_AFTER_ANNOTATION: "60s"})
    living = town(NeverHearsOfTheVisitor, batch)
    living.timeline.run(40)
    living.server.create("pods", asking(VISITOR, cpu="500m"))
    opened: list[str] = []
    removals = living.server.kind("NodeRemovalRequest")
    removals.heard_by.append(lambda event: opened.extend([event.key.name] * (event.old is None)))
    living.timeline.run(1200)
    assert living.auditor.found is None, living.auditor.found
    assert len(opened) == 1, "the node is in use, which nobody but the server knew"


def test_what_an_event_did_not_tell_is_listed_though_the_watch_broke_meanwhile() -> None:
    living = town(Cache, asking("web", cpu="3"))
    living.timeline.run(100)
    assert living.lives.leader is not None
    cache = living.lives.leader.caches["pods"]
    lost = cache._connection
    cache.cut(seconds=1.0, needs_list=False)
    living.timeline.run(110)
    del cache.objects[Key("work", "web")]
    cache._miss(lost)
    living.timeline.run(120)
    assert Key("work", "web") in cache.objects
