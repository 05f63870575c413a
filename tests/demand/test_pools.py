"""Which pools a pod may use."""

from __future__ import annotations

from typing import Any

import pytest

from growth.api.wellknown import POOL_LABEL
from growth.demand.pools import (
    NOTHING_SAID,
    PoolNotFound,
    UsablePools,
    match_pools,
    pools_of,
    wish_of,
)
from tests.scheduling import build

ALL = ("default", "gpu", "web")


def about(operator: str, *values: str, key: str = POOL_LABEL) -> dict[str, Any]:
    return {"key": key, "operator": operator} | ({"values": [*values]} if values else {})


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": required}}


def term(*expressions: dict[str, Any]) -> dict[str, Any]:
    return {"matchExpressions": [*expressions]}


def selecting(pool: str) -> dict[str, Any]:
    return {"nodeSelector": {POOL_LABEL: pool}}


ZONE = about("In", "here", key="zone")
ON_A_NODE = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}


@pytest.mark.parametrize(
    ("spec", "pools"),
    [
        ({}, {"default"}),
        ({"nodeSelector": {"disk": "ssd"}}, {"default"}),
        (affinity(term(ZONE)), {"default"}),
        (affinity(ON_A_NODE), {"default"}),
        (affinity(), {"default"}),
        (selecting("gpu"), {"gpu"}),
        (selecting("Gpu"), set()),
        (selecting("missing"), set()),
        (affinity(term(about("In", "gpu", "web"))), {"gpu", "web"}),
        (affinity(term(about("In", "gpu", "missing"))), {"gpu"}),
        (affinity(term(about("NotIn", "gpu"))), {"default", "web"}),
        (affinity(term(about("Exists"))), {"default", "gpu", "web"}),
        (affinity(term(about("DoesNotExist"))), set()),
        (affinity(term(about("In"))), set()),
        (affinity(term(about("Unheard", "gpu"))), set()),
        (affinity(term(about("Exists"), about("NotIn", "web"))), {"default", "gpu"}),
        (affinity(term(about("In", "gpu")), term(about("In", "web"))), {"gpu", "web"}),
        (affinity(term(about("In", "gpu"), ZONE)), {"gpu"}),
        # An alternative that isn't about pools leaves the choice; one that says nothing is none.
        (affinity(term(about("In", "gpu")), term(ZONE)), {"default", "gpu", "web"}),
        (affinity(term(about("In", "gpu")), ON_A_NODE), {"default", "gpu", "web"}),
        (affinity(term(about("In", "gpu")), term()), {"gpu"}),
        (selecting("gpu") | affinity(term(about("In", "gpu", "web"))), {"gpu"}),
        (selecting("gpu") | affinity(term(about("NotIn", "gpu"))), set()),
    ],
)
def test_a_pod_uses_the_pools_that_it_names_else_the_default(
    spec: dict[str, Any], pools: set[str]
) -> None:
    pod = build.pod(**spec)
    assert pools_of(pod, ALL) == pools
    verdict = match_pools(wish_of(pod), ALL)
    assert verdict == UsablePools(frozenset(pools)) if pools else isinstance(verdict, PoolNotFound)


def test_without_a_default_a_pod_that_names_none_has_none() -> None:
    assert match_pools(NOTHING_SAID, ["gpu"]) == PoolNotFound(("default",))


@pytest.mark.parametrize(
    ("spec", "requested", "text"),
    [
        ({}, ("default",), 'there is no pool "default": create it, or select one'),
        (selecting("gpu"), ("gpu",), 'there is no pool "gpu"'),
        (affinity(term(about("In", "b", "a"))), ("a", "b"), 'no pool "a" or "b"'),
        (affinity(term(about("DoesNotExist"))), (), "correct the affinity"),
    ],
)
def test_a_missing_pool_is_told_by_its_name_and_with_the_way_out(
    spec: dict[str, Any], requested: tuple[str, ...], text: str
) -> None:
    verdict = match_pools(wish_of(build.pod(**spec)), ())
    assert isinstance(verdict, PoolNotFound)
    assert verdict.requested == requested
    assert text in verdict.text


def test_pods_that_say_the_same_about_pools_share_one_wish() -> None:
    one, other = (build.pod(**selecting("gpu"), labels={"app": app}) for app in ("web", "db"))
    assert wish_of(one) == wish_of(other)
    assert wish_of(build.pod(**affinity(term(ZONE)))) is NOTHING_SAID
