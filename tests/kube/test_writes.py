from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from growth.errors import DecideAgain, RetryLater
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Key, WatchedResource
from growth.kube.errors import (
    AlreadyExists,
    BudgetExhausted,
    Conflict,
    Denied,
    NotFound,
    OwnedByOthers,
    Refused,
)
from growth.kube.writes import Decided, Writes
from tests.live import IN_TIME

if TYPE_CHECKING:
    from growth.kube.transport import Connection
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

PATH = "/api/v1/configmaps"


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    uid: str
    resource_version: str
    namespace: str = ""


class ConfigMap(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata
    data: dict[str, str] = {}


def config_map(namespace: str, name: str = "a", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


async def data_of(connection: Connection, namespace: str, name: str = "a") -> dict[str, str]:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    found: dict[str, str] = (await connection.request("GET", path)).json()["data"]
    return found


async def test_a_write_follows_the_state_that_was_decided_on(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)

    first = await writes.create(config_map(namespace, colour="red", size="1"))
    second = await writes.merge(first, {"data": {"colour": "blue", "size": None}})
    assert await data_of(connection, namespace) == {"colour": "blue"}

    operation = {"op": "add", "path": "/data/shape", "value": "round"}
    third = await writes.json_patch(second, [operation])
    applied = config_map(namespace, weight="2")
    await writes.apply(third, applied)
    assert await data_of(connection, namespace) == {
        "colour": "blue",
        "shape": "round",
        "weight": "2",
    }
    assert first.uid == third.uid
    assert int(first.version) < int(second.version) < int(third.version)


async def test_a_write_on_an_old_state_is_refused_in_each_form(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)
    old = await writes.create(config_map(namespace, colour="red"))
    await writes.merge(old, {"data": {"colour": "blue"}})
    operation = {"op": "replace", "path": "/data/colour", "value": "green"}
    tries = [
        writes.merge(old, {"data": {"colour": "green"}}),
        writes.apply(old, config_map(namespace, colour="green")),
        writes.json_patch(old, [operation]),
        writes.delete(old),
    ]

    for write in tries:
        with pytest.raises(DecideAgain) as caught:
            await write
        assert type(caught.value) is Conflict
    assert await data_of(connection, namespace) == {"colour": "blue"}


async def test_a_field_that_others_own_is_not_taken_without_force(
    connection: Connection, namespace: str
) -> None:
    mine, theirs = Writes(connection, path=PATH), config_map(namespace, colour="red")
    query = {"fieldManager": "somebody"}
    await connection.request("POST", mine._path(namespace), query=query, body=theirs)
    found = await mine.adopt(Key(namespace, theirs["metadata"]["name"]))

    with pytest.raises(OwnedByOthers) as caught:
        await mine.apply_unowned(found, config_map(namespace, colour="blue"))
    assert caught.value.owners == ("somebody",)
    assert await data_of(connection, namespace) == {"colour": "red"}
    await mine.apply_unowned(found, config_map(namespace, shape="round"))
    assert await data_of(connection, namespace) == {"colour": "red", "shape": "round"}


async def test_a_write_never_reaches_a_new_object_of_the_same_name(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)
    old = await writes.create(config_map(namespace))
    await writes.delete(old)
    with pytest.raises(NotFound):
        await writes.merge(old, {"data": {"a": "b"}})
    with pytest.raises(Conflict):
        await writes.apply(old, config_map(namespace, a="b"))
    new = await writes.create(config_map(namespace))

    with pytest.raises(Conflict):
        await writes.delete(old)
    with pytest.raises(Conflict):
        await writes.merge(old, {"data": {"a": "b"}})
    assert new.uid != old.uid


async def test_a_name_that_is_taken_is_told_apart_from_a_conflict(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)
    await writes.create(config_map(namespace))

    with pytest.raises(AlreadyExists):
        await writes.create(config_map(namespace))


async def test_a_mistake_in_an_object_is_refused_with_the_servers_words(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)
    decided = await writes.create(config_map(namespace))

    with pytest.raises(Refused, match="patch configmaps a in"):
        await writes.merge(decided, {"data": {"no such key!": "x"}})
    with pytest.raises(Refused):
        await writes.json_patch(decided, [{"op": "add", "path": "/data", "value": {"a b": "c"}}])


def pod(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": namespace, "labels": {"app": "web"}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": "none"}],
        },
    }


async def test_the_status_is_written_apart(connection: Connection, namespace: str) -> None:
    pods = Writes(connection, path="/api/v1/pods")
    created = await pods.create(pod(namespace))
    patch = {"metadata": {"labels": {"new": "yes"}}, "status": {"message": "hello"}}

    as_whole = await pods.merge(created, patch)
    path = f"/api/v1/namespaces/{namespace}/pods/web-0"
    found = (await connection.request("GET", path)).json()
    assert found["metadata"]["labels"]["new"] == "yes"
    assert "message" not in found["status"]

    await pods.merge(as_whole, {"status": {"message": "hello"}}, subresource="status")
    found = (await connection.request("GET", path)).json()
    assert found["status"]["message"] == "hello"


async def test_an_eviction_that_a_budget_forbids_is_no_overload(
    connection: Connection, namespace: str
) -> None:
    pods = Writes(connection, path="/api/v1/pods")
    budgets = Writes(connection, path="/apis/policy/v1/poddisruptionbudgets")
    created = await pods.create(pod(namespace))
    running = [{"type": "Ready", "status": "True"}]
    web = await pods.merge(
        created, {"status": {"phase": "Running", "conditions": running}}, subresource="status"
    )
    await budgets.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
    )

    with pytest.raises(BudgetExhausted):
        await pods.evict(web)
    budget = await connection.request(
        "GET", f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/web"
    )
    found = budget.json()["metadata"]
    await budgets.delete(Decided(Key(namespace, "web"), found["uid"], found["resourceVersion"]))
    await pods.evict(web)


async def test_what_a_role_lacks_is_named(cluster: LiveCluster, connection: Connection) -> None:
    with pytest.raises(Denied) as caught:
        await _as_nobody(connection)

    assert 'list secrets: secrets is forbidden: User "nobody" cannot list' in str(caught.value)
    assert str(caught.value).endswith("give this user a role with that verb and resource")


async def _as_nobody(connection: Connection) -> None:
    connection._headers["Impersonate-User"] = "nobody"
    await connection.request("GET", "/api/v1/secrets")


async def test_the_cache_is_waited_for_after_a_write(
    connection: Connection, namespace: str
) -> None:
    resource = WatchedResource(
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        decode=msgspec.json.Decoder(ConfigMap).decode,
    )
    reflector = Reflector(
        server=connection,
        resource=resource,
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(1),
    )
    own = reflector.store.own
    writes = Writes(connection, path=PATH, noted=own)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(reflector.run())
        await asyncio.wait_for(reflector.synced(), IN_TIME)

        decided = await writes.create(config_map(namespace, n="0"))
        for number in range(1, 20):
            decided = await writes.merge(decided, {"data": {"n": str(number)}})
            await own.seen(decided.key, timeout=IN_TIME)
            seen = reflector.store.get("a", namespace=namespace)
            assert seen is not None
            assert (Decided.on(seen), seen.data) == (decided, {"n": str(number)})

        await writes.delete(decided)
        await own.seen(decided.key, timeout=IN_TIME)
        assert reflector.store.get("a", namespace=namespace) is None
        running.cancel()


def test_reactions_are_what_the_loop_catches() -> None:
    assert issubclass(Conflict, DecideAgain)
    assert issubclass(BudgetExhausted, RetryLater)


async def test_what_a_lost_answer_has_made_is_found_under_its_name(
    connection: Connection, namespace: str
) -> None:
    writes = Writes(connection, path=PATH)
    made = await writes.create(config_map(namespace))
    with pytest.raises(AlreadyExists):
        await writes.create(config_map(namespace))
    assert await writes.adopt(Key(namespace, "a")) == made
