"""A KwokNodeClass fails as it says, on a real API server: so often, there, and over a restart."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.noderequest import UnmetScope
from growth.api.wellknown import INSTANCE_TYPE_LABEL, MANAGED_BY, MANAGED_BY_LABEL
from growth.api.written import ServerTypeName
from growth.errors import RetryLater
from growth.kube.call import JSON_PATCH
from growth.kube.transport import connect
from reconciler.providers.kwok.machines import (
    APPEARED_AT_ANNOTATION,
    NEVER_READY_ANNOTATION,
    READY_AFTER_ANNOTATION,
    REGION,
)
from reconciler.providers.kwok.provider import NODES, KwokProvider
from reconciler.providers.port import (
    Accepted,
    ClassKey,
    DeleteOutcome,
    Machine,
    MachineState,
    Order,
    Unmet,
)
from reconciler.seeing.moment import now
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.transport import Connection, Response
    from reconciler.providers.port import CreateAnswer
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

PATH = "/apis/growth.dev/v1alpha1/kwoknodeclasses"
PLACES = [{"location": "here", "price": "1"}, {"location": "there", "price": "2"}]
TYPES = [
    {"name": name, "resources": {"cpu": "2", "memory": "4Gi"}, "offers": PLACES}
    for name in ("small", "large")
]


class Reader:
    """A connection that keeps how many nodes each of its listings held."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.listed: list[int] = []

    async def request(self, method: str, path: str, **more: Any) -> Response:
        response = await self._connection.request(method, path, **more)
        if (method, path) == ("GET", NODES):
            self.listed.append(len(response.json()["items"]))
        return response


class Cloud:
    """The simulated cloud of one class, as a process sees it that may be started again."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.name = f"cloud-{secrets.token_hex(4)}"
        self.node_class: KwokNodeClass | None = None
        self.start()

    def start(self) -> None:
        self.provider = KwokProvider(self.connection, node_class=lambda: self.node_class, now=now)

    def start_reader(self) -> Reader:
        """The process starts again, and what it lists is counted."""
        reader = Reader(self.connection)
        connection = cast("Connection", reader)
        self.provider = KwokProvider(connection, node_class=lambda: self.node_class, now=now)
        return reader

    async def write(self, **spec: Any) -> None:
        document = {
            "apiVersion": "growth.dev/v1alpha1",
            "kind": "KwokNodeClass",
            "metadata": {"name": self.name},
            "spec": {"types": TYPES} | spec,
        }
        await self.connection.request("POST", PATH, body=document)
        await self.see()

    async def change(self, field: str, value: object) -> None:
        await self.connection.request(
            "PATCH",
            f"{PATH}/{self.name}",
            body=[{"op": "replace", "path": field, "value": value}],
            content_type=JSON_PATCH,
        )
        await self.see()

    async def see(self) -> None:
        """The cache is up to date."""
        response = await self.connection.request("GET", f"{PATH}/{self.name}")
        self.node_class = KwokNodeClass.model_validate_json(response.body)

    def order(self, server_type: str = "small", location: str = "here") -> Order:
        name = f"{self.name}-{secrets.token_hex(4)}"
        return Order(
            name=name,
            request_uid=f"uid-of-{name}",
            pool="default",
            node_class=ClassKey("KwokNodeClass", self.name),
            server_type=ServerTypeName(server_type),
            location=location,
            own_labels={},
            labels={
                MANAGED_BY_LABEL: MANAGED_BY,
                INSTANCE_TYPE_LABEL: server_type,
                REGION: location,
            },
            annotations={},
            taints=(),
        )

    async def node(self, order: Order) -> Any:
        return (await self.connection.request("GET", f"/api/v1/nodes/{order.name}")).json()

    async def annotations(self, order: Order) -> dict[str, str]:
        found: dict[str, str] = (await self.node(order))["metadata"]["annotations"]
        return found

    async def machine(self, order: Order) -> Machine:
        return (await self.provider.list()).machines[order.name]


@pytest.fixture(scope="module")
def defined(cluster: LiveCluster) -> LiveCluster:
    """The cluster, which knows our kinds."""
    install_definitions(cluster)
    return cluster


@pytest.fixture
async def cloud(defined: LiveCluster) -> AsyncIterator[Cloud]:
    async with await connect(kubeconfig=defined.kubeconfig) as connection:
        made = Cloud(connection)
        yield made
        for name in (await made.provider.list()).machines:
            if name.startswith(made.name):
                await connection.request("DELETE", f"/api/v1/nodes/{name}")
        await connection.request("DELETE", f"{PATH}/{made.name}")


def told(answer: CreateAnswer) -> str:
    return type(answer).__name__


async def test_a_counted_stock_out_strikes_so_often_and_only_what_it_names(cloud: Cloud) -> None:
    await cloud.write(
        faults=[{"kind": "StockOut", "serverType": "small", "location": "here", "count": 2}]
    )
    answers = [
        told(await cloud.provider.create(cloud.order(*each)))
        for each in (("small", "there"), ("large", "here"), *[("small", "here")] * 3)
    ]
    assert answers == ["Accepted", "Accepted", "Unmet", "Unmet", "Accepted"]


async def test_a_count_is_kept_over_a_restart_and_begins_anew_with_another_fault(
    cloud: Cloud,
) -> None:
    # given a fault that has struck as often as it may
    await cloud.write(faults=[{"kind": "StockOut", "count": 1}])
    assert isinstance(await cloud.provider.create(cloud.order()), Unmet)
    # when the process starts again, then it doesn't strike again
    cloud.start()
    assert isinstance(await cloud.provider.create(cloud.order()), Accepted)
    # and when somebody asks for more of it, it does
    await cloud.change("/spec/faults/0/count", 2)
    assert isinstance(await cloud.provider.create(cloud.order()), Unmet)


async def test_of_many_orders_at_once_exactly_the_counted_ones_are_struck(cloud: Cloud) -> None:
    await cloud.write(faults=[{"kind": "StockOut", "count": 3}])
    answers = await asyncio.gather(*(cloud.provider.create(cloud.order()) for _ in range(12)))
    assert sum(isinstance(each, Unmet) for each in answers) == 3


async def test_a_machine_that_is_there_is_adopted_though_its_type_is_sold_out_by_now(
    cloud: Cloud,
) -> None:
    # given a machine that was made, though nobody heard the answer
    await cloud.write(faults=[{"kind": "LostAnswer"}])
    order = cloud.order()
    with pytest.raises(RetryLater):
        await cloud.provider.create(order)
    # when there are no more of its type
    await cloud.change("/spec/faults/0/kind", "StockOut")
    assert isinstance(await cloud.provider.create(cloud.order()), Unmet)
    # then it is found all the same
    assert isinstance(await cloud.provider.create(order), Accepted)
    assert (await cloud.machine(order)).request_uid == order.request_uid


async def test_no_more_machines_of_an_offer_are_made_than_it_has(cloud: Cloud) -> None:
    offers = [{"location": "here", "price": "1", "available": 2}]
    await cloud.write(types=[TYPES[0] | {"offers": offers}])
    answers = [told(await cloud.provider.create(cloud.order())) for _ in range(3)]
    assert answers == ["Accepted", "Accepted", "Unmet"]


async def test_several_that_buy_at_once_get_no_more_than_an_offer_has(cloud: Cloud) -> None:
    offers = [{"location": "here", "price": "1", "available": 2}]
    await cloud.write(types=[TYPES[0] | {"offers": offers}])

    answers = await asyncio.gather(*(cloud.provider.create(cloud.order()) for _ in range(6)))

    assert Counter(map(told, answers)) == {"Accepted": 2, "Unmet": 4}


async def test_machines_of_other_offers_are_not_read_to_count_those_of_one(cloud: Cloud) -> None:
    here, there = [place | {"available": 2} for place in PLACES]
    await cloud.write(types=[TYPES[0] | {"offers": [here, there]}])
    for _ in range(2):
        await cloud.provider.create(cloud.order(location="there"))
    reader = cloud.start_reader()

    assert told(await cloud.provider.create(cloud.order())) == "Accepted"

    assert reader.listed == [0]


async def test_a_slow_machine_takes_so_much_longer(cloud: Cloud) -> None:
    await cloud.write(
        bootDelay={"min": "2s", "max": "2s"},
        faults=[{"kind": "SlowBoot", "delay": "30s", "count": 1}],
    )
    orders = [cloud.order(), cloud.order()]
    for order in orders:
        await cloud.provider.create(order)
    delays = [(await cloud.annotations(order))[READY_AFTER_ANNOTATION] for order in orders]
    assert delays == ["32s", "2s"]


async def test_a_machine_that_is_never_ready_runs_and_says_nothing(cloud: Cloud) -> None:
    await cloud.write(faults=[{"kind": "NeverReady", "count": 1}])
    order = cloud.order()
    await cloud.provider.create(order)
    assert (await cloud.annotations(order))[NEVER_READY_ANNOTATION] == "true"
    assert (await cloud.machine(order)).state is MachineState.RUNNING


async def test_a_machine_whose_boot_failed_is_listed_as_failed_with_the_reason(
    cloud: Cloud,
) -> None:
    await cloud.write(faults=[{"kind": "FailedBoot", "count": 1}])
    order = cloud.order()
    assert isinstance(await cloud.provider.create(order), Accepted)
    machine = await cloud.machine(order)
    assert (machine.state, "its boot failed" in machine.reason) == (MachineState.FAILED, True)
    assert machine.scope is UnmetScope.OFFER


async def test_a_delete_fails_so_often_and_then_works(cloud: Cloud) -> None:
    await cloud.write(faults=[{"kind": "DeleteFails", "serverType": "small", "count": 2}])
    order = cloud.order()
    await cloud.provider.create(order)
    machine = await cloud.machine(order)
    outcomes = [(await cloud.provider.delete(machine)).outcome for _ in range(4)]
    assert outcomes == [
        DeleteOutcome.FAILED,
        DeleteOutcome.FAILED,
        DeleteOutcome.ACCEPTED,
        DeleteOutcome.GONE,
    ]


async def test_a_machine_says_from_its_first_moment_that_it_is_not_ready(cloud: Cloud) -> None:
    # Or it would seem to be Ready, not Ready and Ready again while kwok catches up.
    await cloud.write(bootDelay={"min": "1h", "max": "1h"})
    order = cloud.order()
    await cloud.provider.create(order)
    node = await cloud.node(order)
    assert [(each["type"], each["status"]) for each in node["status"]["conditions"]] == [
        ("Ready", "False")
    ]
    assert APPEARED_AT_ANNOTATION in node["metadata"]["annotations"]


async def test_a_catalogue_of_a_thousand_offers_is_read_from_its_config_map(
    cloud: Cloud, namespace: str
) -> None:
    places = [{"location": f"place-{number}", "price": "0.5"} for number in range(50)]
    types = [TYPES[0] | {"name": f"type-{number}", "offers": places} for number in range(20)]
    await catalogue(cloud, namespace, types)
    reference = {"namespace": namespace, "name": "catalogue", "key": "types"}
    await cloud.write(types=[], catalogueFrom=reference)
    assert len(await cloud.provider.offerings()) == 1000
    assert (await cloud.provider.check()).found == {"types": 20, "offers": 1000}
    assert isinstance(await cloud.provider.create(cloud.order("type-7", "place-3")), Accepted)


@pytest.mark.parametrize(
    ("key", "types", "problem"),
    [
        ("other", TYPES, "has no key types: write the catalogue there"),
        ("types", [{"name": "small"}], "0.resources: Field required"),
    ],
)
async def test_a_catalogue_that_cant_be_read_is_said_in_one_line(
    cloud: Cloud, namespace: str, key: str, types: list[dict[str, Any]], problem: str
) -> None:
    await catalogue(cloud, namespace, types, key=key)
    reference = {"namespace": namespace, "name": "catalogue", "key": "types"}
    await cloud.write(types=[], catalogueFrom=reference)
    [said] = (await cloud.provider.check()).problems
    assert said.startswith(f"ConfigMap {namespace}/catalogue")
    assert problem in said


async def catalogue(
    cloud: Cloud, namespace: str, types: list[dict[str, Any]], *, key: str = "types"
) -> None:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "catalogue"},
        "data": {key: str(types).replace("'", '"')},
    }
    await cloud.connection.request(
        "POST", f"/api/v1/namespaces/{namespace}/configmaps", body=document
    )
