"""What the extender keeps of a pod: enough for its answers, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extender.outline import decode_outline
from growth.demand.detection import standing
from growth.scheduling.objects import Pod, decode_pod
from growth.scheduling.owners import owner_of

SHOP: dict[str, Any] = {
    "metadata": {
        "name": "web-1",
        "namespace": "shop",
        "uid": "uid-of-web-1",
        "resourceVersion": "7",
        "labels": {"app": "web", "pod-template-hash": "5d9c7b8f6"},
        "annotations": {"example.org/note": "x" * 200},
        "ownerReferences": [
            {"kind": "ReplicaSet", "name": "web-5d9c7b8f6", "uid": "uid-of-web", "controller": True}
        ],
    },
    "spec": {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": "250m"}}}],
        "overhead": {"memory": "10Mi"},
    },
    "status": {"phase": "Running"},
}
RESIZED = {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {}}


def raw(*, metadata: dict[str, Any] | None = None, spec: Any = None, status: Any = None) -> bytes:
    """A pod of the shop as the API server sends it."""
    parts = {"metadata": metadata or {}, "spec": spec or {}, "status": status or {}}
    return json.dumps({key: SHOP[key] | part for key, part in parts.items()}).encode()


def answers(pod: Pod) -> tuple[Any, ...]:
    """All that the extender asks of a pod with a node."""
    metadata = pod.metadata
    return (
        (metadata.uid, metadata.namespace, metadata.name, metadata.resource_version),
        (pod.place, pod.requests, owner_of(pod), standing(pod)),
        (pod.is_finished, pod.is_terminating, pod.is_of_daemon_set),
    )


@pytest.mark.parametrize(
    "pod",
    [
        raw(spec={"nodeName": "a"}),
        raw(spec={"nodeName": "a"}, status={"containerStatuses": [RESIZED]}),
        raw(spec={"nodeName": "a"}, status={"phase": "Succeeded"}),
        raw(spec={"nodeName": "a"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        raw(spec={"nodeName": "a"}, metadata={"ownerReferences": []}),
        raw(spec={"nodeName": "a"}, metadata={"labels": {}}),
        raw(spec={"nodeName": "a", "containers": []}, status={"nominatedNodeName": "b"}),
    ],
    ids=["plain", "resized", "finished", "terminating", "alone", "unlabelled", "nominated"],
)
def test_the_outline_of_a_pod_with_a_node_gives_the_same_answers(pod: bytes) -> None:
    assert answers(decode_outline(pod)) == answers(decode_pod(pod))


@pytest.mark.parametrize("status", [{}, {"nominatedNodeName": "a"}], ids=["pending", "nominated"])
def test_a_pod_without_a_node_is_kept_whole(status: dict[str, str]) -> None:
    pod = raw(status=status)
    assert decode_outline(pod) == decode_pod(pod)


def test_siblings_share_what_they_have_in_common() -> None:
    one, other = (
        decode_outline(raw(spec={"nodeName": "a"}, metadata={"uid": uid})) for uid in ("1", "2")
    )
    assert one.spec is other.spec
    assert one.requests is other.requests
    assert one.metadata.owner_references is other.metadata.owner_references


def test_nothing_that_only_people_read_is_kept() -> None:
    outline = decode_outline(raw(spec={"nodeName": "a"}))
    assert not outline.metadata.annotations
    assert not outline.spec.containers


def test_a_pod_whose_requests_cannot_be_read_is_refused_as_before() -> None:
    broken = raw(spec={"nodeName": "a", "overhead": {"memory": "much"}})
    with pytest.raises(ValueError, match="memory"):
        decode_outline(broken)
