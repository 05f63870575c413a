"""Who lacks pods, as pods and their owners come, change and go."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.demand.announced import Announcements
from growth.scheduling.metadata import OwnerReference
from growth.scheduling.objects import Deployment, Pod, ReplicaSet

REFUSED = {"conditions": [{"type": "ReplicaFailure", "status": "True"}]}
THEN = "2026-01-01T00:00:0{}Z"


def owner(wanted: int, *, status: Any = None) -> ReplicaSet:
    labels = {"app": "web"}
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    document = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "owner"}
        | {"creationTimestamp": THEN.format(0)},
        "spec": {"replicas": wanted, "template": template},
        "status": status or {},
    }
    return msgspec.convert(document, ReplicaSet)


def pod(number: int, *, of: str = "owner", phase: str = "Pending", **metadata: Any) -> Pod:
    reference = {"kind": "ReplicaSet", "name": "web", "uid": of, "controller": True}
    document = {
        "metadata": {"name": f"web-{number}", "namespace": "shop", "uid": f"uid-{number}"}
        | {"ownerReferences": [reference], "creationTimestamp": THEN.format(number)}
        | metadata,
        "status": {"phase": phase},
    }
    return msgspec.convert(document, Pod)


def missing(known: Announcements) -> int:
    found = known.now().get("owner")
    return 0 if found is None else found.missing


def test_an_owner_without_pods_announces_what_its_template_comes_to() -> None:
    known = Announcements()
    known.owner_changed(None, owner(3))
    found = known.now()["owner"]
    assert (found.missing, found.since) == (3, THEN.format(0))
    assert found.like.metadata.labels == {"app": "web"}
    assert found.like.requests["cpu"] == 1000


def test_one_of_its_pods_shows_better_what_the_others_will_be() -> None:
    known = Announcements()
    known.owner_changed(None, owner(3))
    known.pod_changed(None, pod(1))
    found = known.now()["owner"]
    assert (found.missing, found.since, found.like) == (2, THEN.format(1), pod(1))


def test_an_owner_that_has_all_announces_nothing() -> None:
    known = Announcements()
    known.owner_changed(None, owner(1))
    known.pod_changed(None, pod(1))
    assert known.now() == {}


def test_a_pod_that_ends_is_missing_again() -> None:
    known = Announcements()
    known.owner_changed(None, owner(1))
    known.pod_changed(None, pod(1))
    known.pod_changed(pod(1), pod(1, phase="Succeeded"))
    assert missing(known) == 1


def test_an_owner_whose_pods_are_refused_announces_nothing() -> None:
    known = Announcements()
    known.owner_changed(None, owner(3))
    known.owner_changed(owner(3), owner(3, status=REFUSED))
    assert known.now() == {}


def test_an_owner_that_is_gone_announces_nothing() -> None:
    known = Announcements()
    known.owner_changed(None, owner(3))
    known.owner_changed(owner(3), None)
    assert known.now() == {}


def deployment(wanted: int, **spec: Any) -> Deployment:
    document = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "deployment"},
        "spec": {"replicas": wanted} | spec,
    }
    return msgspec.convert(document, Deployment)


def of_deployment(wanted: int) -> ReplicaSet:
    reference = OwnerReference(kind="Deployment", name="web", uid="deployment", controller=True)
    made = owner(wanted)
    metadata = msgspec.structs.replace(made.metadata, owner_references=(reference,))
    return msgspec.structs.replace(made, metadata=metadata)


def test_a_deployment_speaks_for_itself_until_its_first_replica_set_is_there() -> None:
    known = Announcements()
    known.deployment_changed(None, deployment(3))
    assert {uid: each.missing for uid, each in known.now().items()} == {"deployment": 3}
    known.owner_changed(None, of_deployment(3))
    assert {uid: each.missing for uid, each in known.now().items()} == {"owner": 3}
    known.owner_changed(of_deployment(3), None)
    assert {uid: each.missing for uid, each in known.now().items()} == {"deployment": 3}


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"name": "main", "resources": {"requests": {"cpu": "much"}}}]},
        {"containers": [{"name": "main"}], "overhead": {"memory": ""}},
        # This one is read as soon as the pod is made.
        {"resources": {"limits": {"cpu": "1"}}}
        | {"containers": [{"name": "main", "resources": {"requests": {"cpu": ""}}}]},
    ],
    ids=["a request", "the overhead", "a request beside a limit of the pod"],
)
def test_a_template_that_can_not_be_read_announces_nothing(spec: dict[str, Any]) -> None:
    known = Announcements()
    known.deployment_changed(None, deployment(3, template={"spec": spec}))
    assert known.now() == {}
    known.deployment_changed(None, deployment(3))
    assert known.now().keys() == {"deployment"}


def test_a_deployment_that_rests_announces_nothing() -> None:
    known = Announcements()
    known.deployment_changed(None, deployment(3))
    known.deployment_changed(deployment(3), deployment(3, paused=True))
    assert known.now() == {}


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["come", "end", "go"]))))
def test_whatever_happens_it_counts_as_one_who_looks_anew(
    happenings: list[tuple[int, str]],
) -> None:
    known, there = Announcements(), dict[int, Pod]()
    known.owner_changed(None, owner(4))
    for number, happening in happenings:
        before = there.pop(number, None)
        after = None if happening == "go" else pod(number, phase=_phase(happening))
        if after is not None:
            there[number] = after
        known.pod_changed(before, after)
    alive = sum(not each.is_finished for each in there.values())
    assert missing(known) == max(0, 4 - alive)


def _phase(happening: str) -> str:
    return "Succeeded" if happening == "end" else "Pending"


def test_what_all_replica_sets_want_is_counted_together() -> None:
    known = Announcements()
    first, refused = owner(3), owner(8, status=REFUSED)
    other = msgspec.structs.replace(
        owner(2), metadata=msgspec.structs.replace(owner(2).metadata, uid="other")
    )
    known.owner_changed(None, first)
    known.owner_changed(None, other)
    assert known.wanted == 5
    known.owner_changed(first, owner(7))
    assert known.wanted == 9
    known.owner_changed(owner(7), refused)
    assert known.wanted == 2
    known.owner_changed(other, None)
    assert known.wanted == 0
