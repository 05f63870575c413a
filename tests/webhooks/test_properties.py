"""What holds for any pod, whatever it says about nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from growth.demand.pools import pools_of
from growth.scheduling.pod import Pod
from tests.webhooks.reviews import changed_by, pools_from, posted
from tests.webhooks.strategies import pods
from tests.webhooks.table import POOLS
from tests.webhooks.test_cases import desk_with
from webhooks.pod import AdmittedPod

if TYPE_CHECKING:
    from webhooks.pools import AdmissionPools

Document = dict[str, Any]
# How long an example takes is the machine's business.
unhurried = settings(deadline=None)
any_pools = st.sampled_from([pools_from(POOLS[name]) for name in ("prefer", "require", "allow")])


def admitted(pod: Document, pools: AdmissionPools) -> Document:
    return changed_by(desk_with(pools).answer(posted(pod)), pod)


def as_scheduled(pod: Document) -> Pod:
    return msgspec.convert(pod, Pod)


@unhurried
@given(pod=pods(), pools=any_pools)
def test_a_second_review_adds_nothing(pod: Document, pools: AdmissionPools) -> None:
    once = admitted(pod, pools)

    assert admitted(once, pools) == once


@unhurried
@given(pod=pods(), pools=any_pools)
def test_what_the_pod_had_is_there_and_in_its_order(pod: Document, pools: AdmissionPools) -> None:
    assert_contains(admitted(pod, pools), pod)


def assert_contains(whole: Any, part: Any) -> None:
    """Every value of the part is in the whole, at the same place."""
    match part:
        case dict():
            for key, value in part.items():
                assert_contains(whole[key], value)
        case list():
            for index, value in enumerate(part):
                assert_contains(whole[index], value)
        case _:
            assert whole == part


@unhurried
@given(pod=pods(), pools=any_pools)
def test_a_pod_is_let_onto_every_pool_that_it_names_and_may_use(
    pod: Document, pools: AdmissionPools
) -> None:
    scheduled = as_scheduled(admitted(pod, pools))

    said = json.dumps([pod["spec"].get("nodeSelector"), pod["spec"].get("affinity")])
    for name in pools_of(scheduled, pools.by_name):
        by_name = name in names_of(pod) or (name == "default" and "growth.dev/pool" not in said)
        for taint in pools.by_name[name].taints if by_name else ():
            assert any(each.tolerates(taint) for each in scheduled.spec.tolerations)


def required_terms(pod: Document) -> list[Document]:
    terms: list[Document] = (
        pod["spec"]
        .get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", {})
        .get("nodeSelectorTerms", [])
    )
    return terms


def names_of(pod: Document) -> set[str]:
    terms = required_terms(pod)
    conditions = [each for term in terms for each in term.get("matchExpressions", ())]
    named = {
        name
        for each in conditions
        if (each["key"], each["operator"]) == ("growth.dev/pool", "In")
        for name in each["values"]
    }
    selected = pod["spec"].get("nodeSelector", {}).get("growth.dev/pool")
    return named | ({selected} if selected is not None else set())


@unhurried
@given(pod=pods(), pools=any_pools)
def test_admission_never_takes_a_pool_from_a_pod_nor_gives_it_one_that_it_excludes(
    pod: Document, pools: AdmissionPools
) -> None:
    # Alternatives without conditions are met by no node, so such a pod has no place anyway.
    terms = required_terms(pod)
    assume(not terms or any(terms))
    before = pools_of(as_scheduled(pod), pools.by_name)

    assert pools_of(as_scheduled(admitted(pod, pools)), pools.by_name) == before


@unhurried
@given(pod=pods())
def test_the_scheduling_room_sees_the_same_pod_as_admission(pod: Document) -> None:
    part = msgspec.convert(pod, AdmittedPod).for_scheduling
    whole = as_scheduled(pod)

    assert part.wanted_nodes == whole.wanted_nodes
    assert part.metadata == whole.metadata
