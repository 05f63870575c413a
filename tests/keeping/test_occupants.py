"""What is taken over from the last answer is what would be answered anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from growth.keeping.occupants import NO_OCCUPANTS, occupants
from growth.scheduling.cluster import Cluster
from growth.scheduling.occupancy import Occupancy
from tests.reconciler.build import START, at
from tests.scheduling import build
from tests.scheduling.test_budgets import budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.keeping.wanting import Keeping
    from growth.scheduling.budgets import PodDisruptionBudget

NAMES = ("one", "two", "three")
OWNER = {"kind": "ReplicaSet", "name": "web", "uid": "u", "apiVersion": "apps/v1"}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def web(name: str, *, held_for: str = "", namespace: str = "shop", **others: str) -> Any:
    annotations = others | ({"growth.dev/do-not-disrupt": held_for} if held_for else {})
    metadata = {
        "ownerReferences": [OWNER | {"controller": True}],
        "annotations": annotations,
        "creationTimestamp": START.isoformat(),
    }
    return build.pod(
        name, labels={"app": "web"}, namespace=namespace, status=READY, metadata=metadata
    )


PODS = (
    web("a"),
    web("b", held_for="20s"),
    web("c", held_for="40s"),
    web("d", namespace="other"),
    build.pod("lonely"),
    # Held for a while, and then for good.
    web("e", held_for="10s", **{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
)
OCCUPANCIES = tuple(
    Occupancy(pods)
    for pods in ((), PODS[:1], PODS[1:3], PODS[3:4], PODS[2:5], PODS[1:2], PODS[2::3])
)
BUDGETS: tuple[Mapping[tuple[str, str], PodDisruptionBudget], ...] = (
    {},
    {("shop", "web"): budget(disruptionsAllowed=1)},
    {("shop", "web"): budget(disruptionsAllowed=2)},
    {("shop", "web"): budget(currentHealthy=1, desiredHealthy=2)},
    {("shop", "web"): budget(currentHealthy=2, desiredHealthy=2)},
    {("shop", "web"): budget(disruptionsAllowed=1), ("shop", "all"): budget("all")},
)
MOMENTS = st.tuples(
    st.lists(st.sampled_from(OCCUPANCIES), min_size=3, max_size=3),
    st.sampled_from(BUDGETS),
    st.integers(0, 15),
)


def answers(found: Any) -> dict[str, Keeping | None]:
    return {name: each.keeping for name, each in found.answers.items()}


@given(st.lists(MOMENTS, min_size=1, max_size=8))
def test_what_is_remembered_is_what_would_be_answered_anew(moments: Any) -> None:
    seconds, known = 0, NO_OCCUPANTS
    for held, budgets, later in moments:
        seconds += later
        there = dict(zip(NAMES, held, strict=True))
        cluster = Cluster(occupancies=there, budgets=budgets)
        known = occupants(NAMES, cluster, at(seconds), before=known)
        assert answers(known) == answers(occupants(NAMES, cluster, at(seconds)))


def test_nothing_is_asked_again_while_nothing_changes() -> None:
    there = {"one": Occupancy(PODS[:1]), "two": Occupancy(PODS[3:4])}
    before = Cluster(occupancies=there, budgets=BUDGETS[1])
    first = occupants(there, before, at(0))
    # More disruptions are allowed than before, a pod has come to one node, and a minute is over.
    changed = {**there, "two": Occupancy(PODS[2:5])}
    after = msgspec.structs.replace(before, occupancies=changed, budgets=BUDGETS[2])
    second = occupants(there, after, at(60), before=first)
    assert second.answers["one"] is first.answers["one"]
    assert second.answers["two"] is not first.answers["two"]


def test_the_budget_of_other_pods_changes_nothing() -> None:
    cluster = Cluster(occupancies={"one": Occupancy(PODS[:1])}, budgets=BUDGETS[1])
    first = occupants(["one"], cluster, at(0))
    others = budget("others", spec={"selector": {"matchLabels": {"app": "db"}}})
    more = msgspec.structs.replace(cluster, budgets={**BUDGETS[1], ("shop", "others"): others})
    assert occupants(["one"], more, at(1), before=first).answers["one"] is first.answers["one"]


def test_some_pods_are_asked_about_now_and_the_others_next_time() -> None:
    there = {name: Occupancy(PODS[:2]) for name in NAMES}
    cluster = Cluster(occupancies=there, budgets=BUDGETS[1])
    first = occupants(NAMES, cluster, at(0), most=1)
    assert list(first.answers) == ["one"]
    second = occupants(NAMES, cluster, at(0), before=first, most=1)
    assert list(second.answers) == ["one", "two"]
    third = occupants(NAMES, cluster, at(0), before=second, most=1)
    assert answers(third) == answers(occupants(NAMES, cluster, at(0)))


def test_a_budget_that_is_written_again_and_says_the_same_changes_nothing() -> None:
    cluster = Cluster(occupancies={"one": Occupancy(PODS[:1])}, budgets=BUDGETS[4])
    first = occupants(["one"], cluster, at(0))
    (key, known) = next(iter(BUDGETS[4].items()))
    again = msgspec.structs.replace(
        known, metadata=msgspec.structs.replace(known.metadata, resource_version="9")
    )
    written = msgspec.structs.replace(cluster, budgets={key: again})
    second = occupants(["one"], written, at(1), before=first)
    assert second.answers["one"] is first.answers["one"]


def test_a_node_that_is_gone_is_forgotten() -> None:
    cluster = Cluster(occupancies={"one": Occupancy(PODS[:1])})
    known = occupants(["one"], cluster, at(0))
    assert occupants([], cluster, at(1), before=known).answers == {}
