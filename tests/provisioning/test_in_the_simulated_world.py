"""Stories of machines that don't come, told to the whole loop in virtual time.

The auditor of the simulated world looks on: one machine a request, phases that only go on, no
machine that nobody knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.story import Story
from tests.reconciler.build import waiting

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from reconciler.simulation.server import StoredChange

CALM = Story(seed=1, minutes=120.0, faults=(), workloads=0)
PLACES = [{"location": "here", "price": "1"}]
SIZE = {"cpu": "2", "memory": "4Gi", "pods": "110"}
AT_ONCE = {"min": "2s", "max": "2s"}
NEVER = {"min": "3h", "max": "3h"}


def catalogue(*, boots: dict[str, str], types: tuple[str, ...] = ("cheap", "dear")) -> Any:
    sold = [
        {"name": name, "resources": SIZE, "offers": [{"location": "here", "price": str(1 + n)}]}
        for n, name in enumerate(types)
    ]
    document = {"metadata": {"name": "default"}, "spec": {"types": sold, "bootDelay": boots}}
    return KwokNodeClass.model_validate(document)


class Told:
    """A cluster with one pool, and everything that ever became of its requests."""

    def __init__(
        self,
        *,
        boots: dict[str, str] = AT_ONCE,
        joining: SimulatedJoining = SimulatedJoining.AT_ONCE,
        **pool: Any,
    ) -> None:
        self.living = Living(CALM, joining)
        self.server = self.living.server
        self.class_ = catalogue(boots=boots)
        types = [{"name": "cheap", "max": 50}, {"name": "dear", "max": 50}]
        spec = {"serverTypes": types, "readinessWait": "60s"} | pool
        document = {"metadata": {"name": "default"}, "spec": spec}
        self.server.create("KwokNodeClass", self.class_)
        self.server.create("NodePool", NodePool.model_validate(document))
        self.server.create("namespaces", Namespace(Metadata(name="default")))
        self.moments: list[tuple[float, str, str]] = []
        """When which request came to which phase; its type."""
        self.server.kind("NodeRequest").heard_by.append(self._heard)
        self.living.lives.begin()

    def _heard(self, event: StoredChange) -> None:
        old, new = event.old, event.new
        now, made = self.living.timeline.now, new or old
        phase = "gone" if new is None else new.status.phase.value
        before = None if old is None else old.status.phase.value
        if phase != before:
            self.moments.append((now, made.spec.server_type.canonical, phase))

    def wants(self, *names: str) -> None:
        for name in names:
            self.server.create("pods", waiting(name, requests={"cpu": "1500m"}))

    def until(self, seconds: float) -> None:
        self.living.timeline.run(seconds)
        assert self.living.auditor.found is None, self.living.auditor.found

    def when(self, phase: str, server_type: str = "") -> list[float]:
        return [at for at, kind, to in self.moments if to == phase and server_type in {"", kind}]

    @property
    def requests(self) -> list[NodeRequest]:
        return list(self.server.kind("NodeRequest").objects.values())

    @property
    def pool(self) -> NodePool:
        found: NodePool = self.server.kind("NodePool").named("default")
        return found

    @property
    def machines(self) -> int:
        return len(self.living.cloud.machines)


def sell_out(told: Told, *, seconds: float) -> None:
    (cheap, _) = kwok_offerings(told.class_)
    told.living.cloud.refusals.sell_out(cheap, seconds=seconds)


def test_a_stock_out_of_the_cheapest_type_costs_one_round_of_planning() -> None:
    told = Told()
    sell_out(told, seconds=900)
    told.until(15)
    told.wants("web-0")
    told.until(40)
    (refused,), (asked,) = told.when("Unmet", "cheap"), told.when("Pending", "dear")
    assert asked - refused < 1.0
    assert told.when("Ready", "dear")


def test_what_was_sold_out_is_tried_again_with_one_machine() -> None:
    told = Told(requestTTL={"unmet": "60s"}, serverTypes=[{"name": "cheap", "max": 50}])
    sell_out(told, seconds=200)
    told.until(15)
    told.wants(*(f"web-{number}" for number in range(4)))
    told.until(900)
    (entry, *_) = told.pool.status.unmet_offers or (None,)
    assert told.machines == 4
    assert entry is None, "it has served since"
    assert len(told.when("Unmet")) <= 4 + 3, "a burst, and then one at a time"


def test_a_machine_that_never_serves_is_replaced_by_one_and_then_by_another_type() -> None:
    told = Told(boots=NEVER)
    told.until(15)
    told.wants("web-0", "web-1", "web-2")
    told.until(300)
    first, *_ = told.when("Deprovisioning", "cheap")
    assert first == pytest.approx(told.when("Provisioning")[0] + 60, abs=3)
    assert len(told.when("Pending", "cheap")) == 3 + 1
    assert told.when("Pending", "dear")
    assert told.machines <= 3


@pytest.mark.parametrize("joining", list(SimulatedJoining))
def test_a_machine_that_dies_while_it_boots_is_planned_around(joining: SimulatedJoining) -> None:
    told = Told(boots={"min": "30s", "max": "30s"}, joining=joining)
    told.until(15)
    told.wants("web-0")
    told.until(25)
    (name,) = told.living.cloud.machines
    told.living.cloud.die(name)
    told.until(120)
    assert len(told.when("Unmet")) == 1
    assert (told.machines, len(told.when("Ready"))) == (1, 1)


@pytest.mark.parametrize("boots", [AT_ONCE, NEVER])
def test_a_request_that_a_person_deletes_gives_back_what_it_has_bought(
    boots: dict[str, str],
) -> None:
    told = Told(boots=boots)
    told.until(15)
    told.wants("web-0")
    told.until(15.4)
    (request,) = told.requests
    told.server.delete("NodeRequest", Key("", request.name))
    (key,) = (each for each in told.server.kind("pods").objects if each.name == "web-0")
    told.server.delete("pods", key)
    told.until(200)
    assert (told.requests, told.machines) == ([], 0)


def test_a_deleted_pool_gives_back_what_is_on_its_way() -> None:
    told = Told(boots=NEVER)
    told.until(15)
    told.wants("web-0", "web-1")
    told.until(20)
    told.server.delete("NodePool", Key("", "default"))
    told.until(200)
    assert (told.requests, told.machines) == ([], 0)
    assert told.server.kind("NodePool").named("default") is None


def test_a_process_that_restarts_forgets_no_refusal() -> None:
    told = Told(serverTypes=[{"name": "cheap", "max": 50}])
    sell_out(told, seconds=10_000)
    told.until(15)
    told.wants("web-0")
    told.until(60)
    asked = len(told.when("Pending"))
    told.living.lives.interrupt(down=5.0)
    told.until(250)
    assert len(told.when("Pending")) == asked
    (entry,) = told.pool.status.unmet_offers
    assert entry.failures == 1
    told.until(800)
    (entry,) = told.pool.status.unmet_offers
    assert entry.failures == 2
