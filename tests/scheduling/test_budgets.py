from __future__ import annotations

import json
from typing import Any

import pytest

from growth.scheduling.budgets import (
    PodDisruptionBudget,
    budget_objection,
    budgets_to_check,
    by_label,
    of_pod,
)
from growth.scheduling.objects import decode_disruption_budget
from tests.scheduling.build import Json, pod

READY: Json = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY: Json = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


def budget(name: str = "web", /, *, spec: Json | None = None, **status: Any) -> PodDisruptionBudget:
    selector = {"selector": {"matchLabels": {"app": "web"}}}
    return decode_disruption_budget(
        json.dumps(
            {
                "metadata": {"name": name, "namespace": "shop", "generation": 2},
                "spec": selector | (spec or {}),
                "status": {"observedGeneration": 2} | status,
            }
        ).encode()
    )


FULL: Json = {"disruptionsAllowed": 0, "currentHealthy": 3, "desiredHealthy": 3}
SHORT: Json = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 3}


def test_a_budget_that_allows_nothing_objects_with_its_numbers() -> None:
    assert budget_objection(pod(labels={"app": "web"}, status=READY), [budget(**FULL)]) == (
        "PodDisruptionBudget shop/web allows no disruption now: healthy pods 3, required 3"
    )


@pytest.mark.parametrize(
    ("labels", "namespace", "is_covered"),
    [
        ({"app": "web"}, "shop", True),
        ({"app": "db"}, "shop", False),
        ({"app": "web"}, "other", False),
    ],
)
def test_a_budget_covers_pods_of_its_namespace_and_selector(
    labels: Json, namespace: str, *, is_covered: bool
) -> None:
    covering = of_pod(pod(labels=labels, namespace=namespace), [budget()])
    assert bool(covering) is is_covered


def test_an_empty_selector_covers_the_namespace_and_none_covers_nothing() -> None:
    anybody = pod(labels={"app": "db"})
    assert of_pod(anybody, [budget(spec={"selector": {}})])
    assert not of_pod(anybody, [budget(spec={"selector": None})])


@pytest.mark.parametrize(
    ("condition", "spec", "status", "may_go"),
    [
        pytest.param(READY, {}, {"disruptionsAllowed": 1}, True, id="one is allowed"),
        pytest.param(READY, {}, FULL, False, id="none is allowed"),
        pytest.param(
            READY,
            {},
            {"disruptionsAllowed": 5, "observedGeneration": 1},
            False,
            id="counted for an older budget",
        ),
        pytest.param(UNREADY, {}, FULL, True, id="unready, and enough are healthy"),
        pytest.param(UNREADY, {}, SHORT, False, id="unready, and too few are healthy"),
        pytest.param(UNREADY, {}, {}, False, id="unready, and nothing was counted yet"),
        pytest.param(
            UNREADY,
            {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
            SHORT,
            True,
            id="unready, and unready ones may always go",
        ),
        pytest.param(
            READY,
            {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
            SHORT,
            False,
            id="ready, and unready ones may always go",
        ),
        pytest.param({"phase": "Pending"}, {}, FULL, True, id="not running yet"),
        pytest.param({"phase": "Succeeded"}, {}, FULL, True, id="finished"),
    ],
)
def test_may_a_pod_be_evicted_now(
    condition: Json, spec: Json, status: Json, *, may_go: bool
) -> None:
    made = pod(labels={"app": "web"}, status=condition)
    assert (budget_objection(made, [budget(spec=spec, **status)]) is None) is may_go


def test_a_pod_that_is_on_its_way_out_asks_no_budget() -> None:
    leaving = pod(
        labels={"app": "web"},
        status=READY,
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
    )
    assert budget_objection(leaving, [budget(**FULL)]) is None


def test_a_pod_in_two_budgets_cannot_be_evicted_at_all() -> None:
    both = [budget("one", disruptionsAllowed=1), budget("two", disruptionsAllowed=1)]
    assert budget_objection(pod(labels={"app": "web"}, status=READY), both) == (
        "shop/web-0 has several PodDisruptionBudgets (one, two), so it can't be evicted"
    )


LABELS: tuple[Json, ...] = ({}, {"app": "web"}, {"app": "db", "tier": "back"}, {"tier": "front"})
SELECTORS: tuple[Json | None, ...] = (
    None,
    {},
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "db", "tier": "back"}},
    *(
        {"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]}
        for operator, values in (
            ("In", ["front", "back", "front"]),
            ("In", []),
            ("NotIn", ["front"]),
            ("Exists", None),
            ("DoesNotExist", None),
        )
    ),
)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("namespace", ["shop", "other"])
def test_whoever_covers_a_pod_is_found_by_its_labels(labels: Json, namespace: str) -> None:
    budgets = [budget(f"b-{n}", spec={"selector": each}) for n, each in enumerate(SELECTORS)]
    one = pod(labels=labels, namespace=namespace)
    assert of_pod(one, budgets_to_check(one, by_label(budgets))) == of_pod(one, budgets)


def test_a_pod_is_not_compared_with_thousands_of_budgets_of_others() -> None:
    spec = [{"selector": {"matchLabels": {"app": f"web-{n}"}}} for n in range(1000)]
    known = by_label([budget(f"b-{n}", spec=each) for n, each in enumerate(spec)])
    [found] = budgets_to_check(pod(labels={"app": "web-7", "tier": "front"}), known)
    assert found.metadata.name == "b-7"
