"""The rule says of every pod what the table says; a real API server is asked the same elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from tests.webhooks.reviews import changed_by, pools_from, posted, warnings_of
from tests.webhooks.table import POOLS, TABLE, Case
from webhooks.desk import Desk
from webhooks.metrics import AdmissionMetrics

if TYPE_CHECKING:
    from webhooks.pools import Pools

every_case = pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)


def desk_with(pools: Pools | None, *, own_namespace: str = "growth-system") -> Desk:
    return Desk(
        lambda: pools,
        own_namespace=own_namespace,
        metrics=AdmissionMetrics(CollectorRegistry()),
    )


@every_case
def test_a_pod_becomes_what_the_table_says(case: Case) -> None:
    answer = desk_with(pools_from(POOLS[case.pools])).answer(posted(case.before))

    assert changed_by(answer, case.before) == case.after
    assert warnings_of(answer) == case.warnings


@every_case
def test_a_pod_that_was_changed_once_is_not_changed_again(case: Case) -> None:
    answer = desk_with(pools_from(POOLS[case.pools])).answer(posted(case.after))

    assert changed_by(answer, case.after) == case.after


def test_the_table_is_large_and_has_one_row_a_name() -> None:
    assert len({case.name for case in TABLE}) == len(TABLE) >= 40


@pytest.mark.parametrize("namespace", ["kube-system", "our-own"])
def test_pods_of_the_cluster_and_of_growth_itself_are_left_alone(namespace: str) -> None:
    desk = desk_with(pools_from(POOLS["prefer"]), own_namespace="our-own")

    answer = desk.answer(posted(TABLE[0].before, namespace=namespace))

    assert changed_by(answer, TABLE[0].before) == TABLE[0].before


@pytest.mark.parametrize(
    "request_of_another_kind",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"operation": "CONNECT"},
        {"subResource": "status"},
        {"subResource": "binding"},
    ],
    ids=lambda each: " ".join(map(str, each.values())),
)
def test_only_the_creation_of_a_pod_changes_it(request_of_another_kind: dict[str, object]) -> None:
    pod = TABLE[0].before
    answer = desk_with(pools_from(POOLS["require"])).answer(posted(pod, **request_of_another_kind))

    assert "patch" not in json.loads(answer)["response"]
    assert warnings_of(answer) == ()
