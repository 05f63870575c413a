"""What the API server has said counts, also where no event and for long no list shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.simulation.caches import Cache
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.story import Story
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.simulation.server import StoredChange

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
LISTED_AFTER = 300.0
"""Seconds that a list of NodeRequests takes: much longer than a create is tried."""


class MissesTheFirstRequest(Cache):
    """The event of the first NodeRequest is lost, and the list that shows it takes long."""

    has_missed = False

    @override
    def _hear(self, event: StoredChange) -> None:
        if self._is_of_requests and event.old is None and not self.has_missed:
            self.has_missed = True
        else:
            super()._hear(event)

    @override
    def connect(self) -> None:
        if self._is_of_requests and self.has_missed:
            self._timeline.after(LISTED_AFTER, self._arrive, self._connected, self._connection)
        else:
            super().connect()

    @property
    def _is_of_requests(self) -> bool:
        return self.kind.name == "NodeRequest"


def buying_for(*pods: str) -> Living:
    """A pool of at most two machines, each of which holds one of the pods."""
    living = Living(CALM, SimulatedJoining.WHILE_BOOTING, parts=Parts(cache=MissesTheFirstRequest))
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
    for name in pods:
        living.server.create("pods", _asking(name))
    return living


def _asking(name: str) -> Pod:
    own = {"namespace": "work", "uid": name}
    return build.pod(name, requests={"cpu": "3"}, metadata=own, status={"phase": "Pending"})


def test_a_request_that_the_server_has_made_counts_until_a_list_shows_it() -> None:
    living = buying_for("web-0", "web-1", "web-2")
    living.lives.begin()
    living.timeline.run(2 * LISTED_AFTER)
    assert living.auditor.found is None, living.auditor.found
    assert living.cloud.bought == 2
