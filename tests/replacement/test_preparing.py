"""What a search needs of thousands of pods is worked out in several passes."""

from __future__ import annotations

from typing import Any

import pytest

from growth.scheduling.unsupported import unsupported
from reconciler.replacement import asking
from tests.reconciler.build import pool
from tests.removal.build import node, world
from tests.scheduling import build

SPECS: dict[str, dict[str, Any]] = {
    "plain": {},
    "spread": {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ]
    },
    "of tomorrow": {"tolerations": [{"key": "a", "operator": "Near"}]},
    "with a device": {"resourceClaims": [{"name": "gpu"}]},
    "with a port": {
        "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    },
}


def pods() -> list[Any]:
    """Made anew each time, so nothing is worked out yet."""
    return [
        build.pod(f"{name.replace(' ', '-')}-{number}", on="default-1", **spec)
        for name, spec in SPECS.items()
        for number in range(3)
    ]


@pytest.mark.parametrize("most", [1, 4, 15, 100])
def test_the_work_is_shared_by_as_many_passes_as_it_takes(most: int) -> None:
    given = pods()
    passes = 1
    while not asking.prepared_for_search(given, most=most):
        passes += 1
    assert passes == -(-len(given) // most)
    assert asking.prepared_for_search(given, most=0)


def test_the_question_is_the_same_however_many_passes_prepared_it() -> None:
    prepared, fresh = pods(), pods()
    while not asking.prepared_for_search(prepared, most=2):
        pass
    seen = world(pool(), node("default-1"), *pods())
    for one, other in zip(asking.unbound(prepared), asking.unbound(fresh), strict=True):
        assert (one.name, one.spec, one.status) == (other.name, other.spec, other.status)
        assert {name: getattr(one, name) for name in asking.NEEDED} == {
            name: getattr(other, name) for name in asking.NEEDED
        }
        assert unsupported(one, seen.cluster) == unsupported(other, seen.cluster)


def test_a_new_pod_is_judged_as_the_one_that_it_replaces() -> None:
    seen = world(pool(), node("default-1"), *pods())
    told = {each.name: unsupported(each, seen.cluster) for each in pods()}
    assert {each.name: unsupported(each, seen.cluster) for each in asking.unbound(pods())} == told
    assert sum(map(bool, told.values())) == 6
