"""The judge of a storm, judged: what it has to see, and whom it must not blame."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import pytest

from growth.api.wellknown import (
    CORDONED_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    MANAGED_BY_LABEL,
    POOL_LABEL,
)
from tests.thread.chronicle import Told
from tests.thread.judging import EVICTED, HEARD_OF, OWNER, Deeds, Judge

Json = dict[str, Any]
OWNED = {"kind": "ReplicaSet", "name": "web", "controller": True}
DAEMON = {"kind": "DaemonSet", "name": "agent", "controller": True}


def pod(name: str = "web-1", *, on: str = "n", ended_by: str = "", **parts: Any) -> Json:
    conditions = [{"type": "DisruptionTarget", "reason": ended_by}] if ended_by else []
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "labels": {OWNER: "web"},
        "annotations": parts.get("annotations", {}),
        "ownerReferences": parts.get("owners", [OWNED]),
    }
    status = {"conditions": conditions, "phase": parts.get("phase", "Running")}
    return {"metadata": metadata, "spec": {"nodeName": on}, "status": status}


def node(name: str = "n", *, is_cordoned: bool = False, **annotations: str) -> Json:
    labels = {MANAGED_BY_LABEL: "growth", POOL_LABEL: "p", INSTANCE_TYPE_LABEL: "small"}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return {"metadata": metadata, "spec": {"unschedulable": is_cordoned}}


def removal(name: str = "n") -> Json:
    return {"metadata": {"name": name}, "status": {"phase": "Pending"}}


def request(name: str, phase: str) -> Json:
    spec = {"pool": "p", "serverType": "Small"}
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


def there(kind: str, found: Json, at: float = 0.0) -> Told:
    return Told(0, at, kind, is_gone=False, found=found)


def gone(kind: str, found: Json, at: float = 0.0) -> Told:
    return Told(0, at, kind, is_gone=True, found=found)


def rules(*told: Told, maximum: int = 9, **deeds: Any) -> set[str]:
    judge = Judge(Deeds(**deeds), maxima={("p", "small"): maximum})
    versions = count(1)
    judge.read(each._replace(version=next(versions)) for each in told)
    return {violation.rule for violation in judge.found}


EMPTY = (there("node", node()), there("removal", removal()))
LATE = HEARD_OF + 1.0


@pytest.mark.parametrize(
    ("told", "deeds"),
    [
        ([*EMPTY, gone("node", node())], {}),
        ([*EMPTY, there("pod", pod(owners=[DAEMON])), gone("node", node())], {}),
        ([*EMPTY, there("pod", pod(phase="Succeeded")), gone("node", node())], {}),
        ([*EMPTY, there("pod", pod()), gone("pod", pod()), gone("node", node())], {"fewer": 1}),
        ([there("node", node()), there("pod", pod()), gone("node", node())], {"killed": {"n"}}),
        ([there("pod", pod()), gone("pod", pod(ended_by=EVICTED))], {}),
        ([there("pod", pod()), gone("pod", pod(ended_by="DeletionByPodGC"))], {"killed": {"n"}}),
        ([there("pod", pod()), gone("pod", pod())], {"ended": {"uid-web-1"}}),
        (
            [there("node", node(is_cordoned=True)), there("node", node())],
            {"uncordoned": {"n"}},
        ),
        (
            [there("node", node(is_cordoned=True, **{CORDONED_ANNOTATION: "Drift"})), *EMPTY],
            {},
        ),
        (
            [*EMPTY, there("node", node(is_cordoned=True), at=9.0), gone("node", node(), at=9.1)],
            {},
        ),
    ],
    ids=[
        "an empty node that was named",
        "a node with a daemon",
        "a node with a pod that is done",
        "a node whose last pod its owner wanted no more",
        "a node that the storm has killed",
        "a pod that was evicted",
        "a pod whose node the storm has killed",
        "a pod that the storm has ended",
        "a cordon that a person has lifted",
        "a cordon of growth's own that it has lifted",
        "a node that was cordoned at the very moment",
    ],
)
def test_nobody_is_blamed_for(told: list[Told], deeds: Any) -> None:
    if "fewer" in deeds:
        deeds = {"fewer": Counter(web=deeds["fewer"])}
    assert rules(*told, **deeds) == set()


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ([*EMPTY, there("pod", pod()), gone("node", node())], "no node ends with pods"),
        ([there("node", node()), gone("node", node())], "what ends was named"),
        ([there("pod", pod()), gone("pod", pod())], "pods end by their owner's wish"),
        ([there("pod", pod()), gone("pod", pod(ended_by="Other"))], "no pod loses its node"),
        (
            [there("pod", pod()), gone("pod", pod(ended_by=EVICTED, owners=[]))],
            "who may not be moved stays",
        ),
        (
            [gone("pod", pod(ended_by=EVICTED, annotations={DO_NOT_DISRUPT_ANNOTATION: "true"}))],
            "who may not be moved stays",
        ),
        (
            [there("node", node(is_cordoned=True)), there("node", node())],
            "a person's cordon stays",
        ),
        (
            [
                there("removal", removal()),
                there("node", node(is_cordoned=True)),
                gone("node", node(is_cordoned=True), at=LATE),
            ],
            "a person's node stays",
        ),
        (
            [there("node", node("a")), there("request", request("b", "Pending"))],
            "no maximum is exceeded",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_sees_that(told: list[Told], rule: str) -> None:
    assert rules(*told, maximum=1) == {rule}


def test_a_machine_counts_once_while_it_is_asked_for_and_there() -> None:
    assert not rules(
        there("request", request("a", "Provisioning")), there("node", node("a")), maximum=1
    )
