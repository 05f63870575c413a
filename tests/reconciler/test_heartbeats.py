"""What a kubelet writes again and again begins no pass."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.resource import key_of
from growth.kube.cache.timing import CacheTiming
from reconciler.seeing.heartbeats import are_heartbeats
from reconciler.seeing.sources import ReconcilerSources
from tests.removal.build import node
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node


def written(each: Node, **metadata: Any) -> Node:
    """The Node after a write."""
    told = {"resource_version": "8"} | metadata
    return msgspec.structs.replace(each, metadata=msgspec.structs.replace(each.metadata, **told))


def changed(old: Any, new: Any, kind: ChangeKind = ChangeKind.MODIFIED) -> Change[Any]:
    return Change(kind, key_of(new or old), old, new)


BEFORE = node("default-1")
BEAT = changed(BEFORE, written(BEFORE))
NOTICED = {
    "a label": changed(BEFORE, written(BEFORE, labels={"a": "b"})),
    "an annotation": changed(BEFORE, written(BEFORE, annotations={"a": "b"})),
    "its readiness": changed(BEFORE, written(node("default-1", ready=False))),
    "a cordon": changed(BEFORE, written(node("default-1", unschedulable=True))),
    "another Node of that name": changed(BEFORE, written(BEFORE, uid="another")),
    "its deletion": changed(BEFORE, written(BEFORE, deletion_timestamp="2026-01-01T00:00:00Z")),
    "a new Node": changed(None, BEFORE, ChangeKind.ADDED),
    "its end": changed(BEFORE, None, ChangeKind.DELETED),
    "a pod": changed(build.pod("web-0"), build.pod("web-0")),
}


def test_a_new_version_alone_is_a_heartbeat() -> None:
    assert are_heartbeats([BEAT, BEAT])


@pytest.mark.parametrize("what", NOTICED)
def test_whatever_a_rule_may_notice_is_none(what: str) -> None:
    assert not are_heartbeats([NOTICED[what]])
    assert not are_heartbeats([BEAT, NOTICED[what]])


def test_a_write_of_growth_that_was_seen_is_none() -> None:
    assert not are_heartbeats([])


async def test_a_heartbeat_wakes_nobody_and_the_next_pass_writes_with_its_version() -> None:
    wakes: list[str] = []
    sources = ReconcilerSources(
        cast("Any", None),
        namespace="growth-system",
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(1),
        changed=lambda: wakes.append("changed"),
        timing=CacheTiming(),
    )
    sources.take("nodes", [NOTICED["a new Node"]])
    assert wakes == ["changed"]
    sources.take("nodes", [BEAT])
    assert wakes == ["changed"]
    assert sources.views.cluster().nodes["default-1"].metadata.resource_version == "8"
    sources.take("nodes", [])
    assert len(wakes) == 2
