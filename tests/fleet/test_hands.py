"""Writes to the API server: in an order that survives a crash, and never on somebody else's."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from fleet.capi.objects import (
    ACCOUNTS,
    CLUSTERS,
    RECORD_LABEL,
    CapiCluster,
    CapiMetadata,
)
from fleet.core.actions import (
    CreateCluster,
    DeleteCluster,
    DropRecord,
    RemoveAgentAccount,
    SetNodes,
)
from fleet.effects.hands import FINALIZER, Hands, Stranger
from fleet.seeing.sources import FLEETS, RECORDS
from fleet.serving.inbox import ReportInbox
from growth.api.clusterrecord import ClusterRecord
from growth.errors import DecideAgain
from growth.kube.cache.resource import Key
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.transport import Response
from tests.fleet.building import NOW, a_report
from tests.fleet.test_capi import a_fleet

if TYPE_CHECKING:
    from collections.abc import Mapping

LATER = NOW + timedelta(hours=1)
OURS, THEIRS = {RECORD_LABEL: "uid-a"}, {RECORD_LABEL: "another"}


class KeptStore:
    """A cache that a test has filled."""

    def __init__(self, *objects: Any) -> None:
        self.objects = {Key("", each.metadata.name): each for each in objects}
        self.own = self

    def get(self, name: str) -> Any:
        return self.objects.get(Key("", name))

    def note(self, key: Key, write: Any) -> None:
        """Nothing waits for it here."""


class KeptSources:
    """The caches of the manager."""

    def __init__(self, **stores: KeptStore) -> None:
        self._stores = stores

    def store(self, name: str) -> KeptStore:
        return self._stores.get(name, KeptStore())

    def objects(self, name: str) -> Mapping[Key, Any]:
        return self.store(name).objects


class Notebook:
    """A connection that answers by a table, and notes what was sent."""

    def __init__(self, **answers: Any) -> None:
        self.sent: list[tuple[str, str, Any]] = []
        self._answers = answers

    async def request(self, method: str, path: str, **ways: Any) -> Response:
        self.sent.append((method, path.rpartition("v1")[2] or path, ways.get("body")))
        answer = self._answers.get(method)
        if isinstance(answer, Exception):
            raise answer
        body = answer or {"metadata": {"uid": "uid-a", "resourceVersion": "9"}}
        return Response(200, {}, json.dumps(body).encode())

    @property
    def methods(self) -> list[str]:
        return [method for method, _, _ in self.sent]


def a_record(name: str = "a", state: str = "deprovisioning", **metadata: Any) -> ClusterRecord:
    spec = {"fleet": "kafka", "provider": "aws", "region": "us-east-1"}
    own = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}
    status = {"state": state, "since": "2026-01-01T00:00:00Z"}
    return ClusterRecord.model_validate({"metadata": own, "spec": spec, "status": status})


def hands(notebook: Notebook, *records: ClusterRecord, instances: int = 0) -> Hands:
    inbox = ReportInbox(now=lambda: LATER)
    for each in records:
        inbox.count(each.name, a_report(instances=instances))
    cluster = CapiCluster(CapiMetadata("a", namespace="fleets", uid="c", labels=OURS))
    sources = KeptSources(
        **{
            FLEETS: KeptStore(a_fleet()),
            RECORDS: KeptStore(*records),
            CLUSTERS: KeptStore(cluster),
            ACCOUNTS: KeptStore(),
        }
    )
    found = Hands(
        notebook,  # type: ignore[arg-type]
        sources=sources,  # type: ignore[arg-type]
        inbox=inbox,
        namespace="growth-fleet",
        now=lambda: LATER,
        may_write=lambda: None,
    )
    found.begin()
    return found


def listed(*records: ClusterRecord) -> dict[str, Any]:
    """What the API server shows: of records for a list, of a Cluster for one."""
    cluster = {"metadata": {"uid": "c", "resourceVersion": "5"}}
    return {"items": [each.document() for each in records], **cluster}


async def test_a_cluster_that_an_earlier_request_has_created_is_taken_for_ours() -> None:
    found = {"metadata": {"labels": OURS, "uid": "c", "resourceVersion": "5"}}
    notebook = Notebook(POST=AlreadyExists("it is there"), GET=found)
    await hands(notebook, a_record()).do(CreateCluster("a"))
    assert notebook.methods == ["POST", "GET", "GET"]


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({"labels": THEIRS}, Stranger),
        ({}, Stranger),
        ({"labels": OURS, "deletionTimestamp": "now"}, DecideAgain),
    ],
)
async def test_a_cluster_of_somebody_else_or_one_that_goes_is_left_alone(
    metadata: dict[str, Any], kind: type[Exception]
) -> None:
    notebook = Notebook(POST=AlreadyExists("it is there"), GET={"metadata": metadata})
    with pytest.raises(kind):
        await hands(notebook, a_record()).do(CreateCluster("a"))
    assert set(notebook.methods) == {"POST", "GET"}


async def test_a_cluster_is_marked_before_it_is_deleted() -> None:
    records = a_record(), a_record("b", "ready")
    notebook = Notebook(GET=listed(*records))
    await hands(notebook, *records).do(DeleteCluster("a"))
    assert notebook.methods == ["GET", "PATCH", "GET", "DELETE"]
    marked, deleted = notebook.sent[1][2], notebook.sent[3][2]
    assert marked["status"] == {"askedToGo": True}
    assert marked["metadata"]["resourceVersion"] == "1"
    assert deleted["preconditions"] == {"uid": "c", "resourceVersion": "5"}


@pytest.mark.parametrize(
    ("sibling", "instances"), [("full", 0), ("deprovisioning", 0), ("ready", 1)]
)
async def test_nothing_is_deleted_on_an_old_look(sibling: str, instances: int) -> None:
    known = a_record(), a_record("b", "ready")
    notebook = Notebook(GET=listed(a_record(), a_record("b", sibling)))
    with pytest.raises(DecideAgain):
        await hands(notebook, *known, instances=instances).do(DeleteCluster("a"))
    assert notebook.methods == ["GET"]


async def test_an_account_that_is_gone_is_removed() -> None:
    notebook = Notebook(DELETE=NotFound("it is gone"))
    await hands(notebook, a_record()).do(RemoveAgentAccount("a"))
    assert notebook.methods == ["DELETE"]


@pytest.mark.parametrize(
    ("metadata", "methods"),
    [({}, ["PATCH", "DELETE"]), ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, ["PATCH"])],
)
async def test_a_record_goes_with_our_finalizer_alone(
    metadata: dict[str, Any], methods: list[str]
) -> None:
    record = a_record(finalizers=["others", FINALIZER], **metadata)
    notebook = Notebook()
    await hands(notebook, record).do(DropRecord("a"))
    assert notebook.methods == methods
    assert notebook.sent[0][2]["metadata"]["finalizers"] == ["others"]


async def test_nodes_are_scaled_in_all_zones_by_one_write() -> None:
    notebook = Notebook()
    await hands(notebook, a_record("a", "ready")).do(SetNodes("a", 9))
    [(method, _, body)] = notebook.sent
    deployments = body["spec"]["topology"]["workers"]["machineDeployments"]
    assert (method, [each["replicas"] for each in deployments]) == ("PATCH", [3, 3, 3])
    assert body["metadata"]["uid"] == "c"
