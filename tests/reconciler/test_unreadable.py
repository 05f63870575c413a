"""Objects that can't be read say so themselves, once, and by what of them can be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.kube.cache.contents import Unreadable
from growth.kube.cache.resource import Key, WatchedResource
from growth.kube.cache.watch_events import read_object
from reconciler import loop
from reconciler.core.actions import PatchStatus
from reconciler.planning.demand import pools_by_pod
from reconciler.pools.unreadable import unreadable_notices
from tests.reconciler.build import WHOLE, at, waiting, world

if TYPE_CHECKING:
    from reconciler.core.world import World

CLASSES = WatchedResource(
    path="/apis/growth.dev/v1alpha1/kwoknodeclasses", decode=KwokNodeClass.model_validate_json
)


def of_tomorrow(**status: Any) -> bytes:
    """A class with an architecture that only a later definition knows."""
    types = [
        {
            "name": "small",
            "resources": {"cpu": "2"},
            "architecture": "riscv64",
            "offers": [{"location": "here", "price": "1"}],
        }
    ]
    metadata = {"name": "default", "uid": "u", "resourceVersion": "7", "generation": 3}
    return json.dumps({"metadata": metadata, "spec": {"types": types}, "status": status}).encode()


def unreadable(raw: bytes) -> Unreadable:
    found = read_object(raw, resource=CLASSES)
    assert isinstance(found, Unreadable)
    return found


def seeing(*found: Unreadable, kind: str = "KwokNodeClass", **changes: Any) -> World:
    return world(unreadable={kind: found}, **changes)


def patch_of(given: World, seconds: float = 100.0) -> PatchStatus:
    ((step,),) = (each.steps for each in unreadable_notices(given, at(seconds)))
    assert isinstance(step, PatchStatus)
    return step


def conditions(step: PatchStatus) -> dict[str, dict[str, Any]]:
    return {each["type"]: each for each in step.status["conditions"]}


def test_a_pod_that_names_a_pool_that_cannot_be_read_is_told_so() -> None:
    broken = Unreadable(key=Key("", "gpu"), uid="u", version="7", problem="max: not a number")
    pods = {
        name: waiting(name, nodeSelector={"growth.dev/pool": name}) for name in ("gpu", "absent")
    }

    found, missing = pools_by_pod(pods, seeing(broken, kind="NodePool"))

    assert found == {}
    assert missing["gpu"] == 'pool "gpu" can\'t be read: see kubectl describe nodepool gpu'
    assert missing["absent"].startswith('there is no pool "absent"')


def test_a_class_that_cannot_be_read_says_what_is_wrong_and_where() -> None:
    step = patch_of(seeing(unreadable(of_tomorrow())))
    ready = conditions(step)["Ready"]
    assert (step.kind, step.version.name, step.version.resource_version) == (
        "KwokNodeClass",
        "default",
        "7",
    )
    assert (ready["status"], ready["reason"], ready["observedGeneration"]) == (
        "False",
        "Unreadable",
        3,
    )
    assert "spec.types.0.architecture: Input should be 'amd64' or 'arm64'" in ready["message"]
    assert "riscv64" not in ready["message"]
    assert conditions(step)["Stalled"]["status"] == "True"


def test_what_is_said_already_is_not_written_again() -> None:
    step = patch_of(seeing(unreadable(of_tomorrow())))
    told = unreadable(of_tomorrow(**step.status))
    assert list(unreadable_notices(seeing(told), at(200))) == []


def test_other_conditions_stay_and_a_status_that_stays_keeps_its_time() -> None:
    before = {
        "type": "Ready",
        "status": "False",
        "reason": "ClassRefused",
        "message": "x",
        "lastTransitionTime": "2025-12-31T00:00:00Z",
    }
    found = unreadable(of_tomorrow(conditions=[before, before | {"type": "PricesBelieved"}]))
    said = conditions(patch_of(seeing(found)))
    assert said["PricesBelieved"]["reason"] == "ClassRefused"
    assert said["Ready"]["lastTransitionTime"] == "2025-12-31T00:00:00Z"
    assert said["Stalled"]["lastTransitionTime"] == "2026-01-01T00:01:40Z"


@pytest.mark.parametrize("status", [{"conditions": "none"}, {"conditions": [{}]}, {}])
def test_a_status_that_cannot_be_read_either_is_written_anew(status: dict[str, Any]) -> None:
    assert conditions(patch_of(seeing(unreadable(of_tomorrow(**status))))).keys() == {
        "Ready",
        "Reconciling",
        "Stalled",
    }


@pytest.mark.parametrize(
    "kind",
    ["NodePool", "NodeRequest", "NodeRemovalRequest", "KwokNodeClass", "HetznerNodeClass"],
)
def test_objects_of_every_kind_of_ours_say_so(kind: str) -> None:
    found = unreadable(of_tomorrow())
    (sequence,) = unreadable_notices(seeing(found, kind=kind), at(100))
    assert sequence.subject.name.endswith("default")
    busy = frozenset({sequence.subject})
    assert list(unreadable_notices(seeing(found, kind=kind, busy=busy), at(100))) == []


def test_it_is_said_while_nothing_may_be_removed_for_it() -> None:
    found = unreadable(of_tomorrow())
    health = msgspec.structs.replace(WHOLE, unreadable=1)
    given = seeing(found, sources={"pods": WHOLE, "KwokNodeClass": health})
    outcome = loop.decide(given, at(100))
    assert [each.why for each in outcome.sequences] == ["KwokNodeClass can't be read"]
    assert not outcome.ledger.brakes.may_remove
