"""Model and API server read the same table, and must say the same of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.api.kinds import KINDS
from growth.api.problems import DocumentProblem, read_strictly, written_path
from tests.api.cases import CASES, CHANGES, POOL, Case, Change

if TYPE_CHECKING:
    from tests.api.server import ApiServer

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_change = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)


def problems_with(case: Case) -> tuple[DocumentProblem, ...]:
    """What the model says about the document."""
    outcome = read_strictly(case.document)
    return outcome if isinstance(outcome, tuple) else ()


@every_case
def test_the_model_says_what_the_table_says(case: Case) -> None:
    problems = problems_with(case)

    expected = [
        problem
        for problem in problems
        if written_path(problem.path).startswith(case.path or "") and case.text in problem.text
    ]
    assert bool(problems) == bool(expected) == (case.path is not None), problems


@pytest.mark.cluster
@every_case
def test_the_api_server_says_the_same_in_the_same_words(case: Case, api_server: ApiServer) -> None:
    problems = problems_with(case)

    answer = api_server.try_to_create(case.document)

    assert answer.accepted == (case.path is None or bool(case.model_only)), answer.body
    for problem in () if case.model_only else problems:
        assert answer.refuses(problem.path, case.server or problem.text), answer.body


@pytest.mark.cluster
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.path is None], ids=lambda case: case.name
)
def test_the_api_server_fills_in_the_model_s_defaults(case: Case, api_server: ApiServer) -> None:
    ours = read_strictly(case.document)

    stored = api_server.try_to_create(case.document).body

    assert not isinstance(ours, tuple)
    theirs = KINDS[case.document["kind"]].model_validate(stored)
    assert theirs.document()["spec"] == ours.document()["spec"]


DEFAULTS = {
    "mode": "Act",
    "placement": "Prefer",
    "limits": {},
    "weight": 0,
    "readinessWait": "10m",
    "requestTTL": {"ready": "10m", "unmet": "5m"},
    "scaleDown": {"idleAfter": "1m", "retryAfter": "30s", "attempts": 5, "order": "Oldest"},
    "disruption": {"consolidation": "WhenCheaper", "budgets": [{"nodes": "10%"}]},
    "deletionPolicy": "Drain",
    "scaling": {"policy": "Demand"},
}


@pytest.mark.cluster
def test_a_pool_is_stored_with_every_default_spelled_out(api_server: ApiServer) -> None:
    stored = api_server.try_to_create(POOL).body["spec"]

    assert stored == {"serverTypes": [{"name": "cx33", "min": 0, "max": 10}], **DEFAULTS}


@pytest.mark.cluster
@every_change
def test_the_api_server_allows_the_same_changes(change: Change, api_server: ApiServer) -> None:
    stored = api_server.create(change.old).body
    metadata = {"resourceVersion": stored["metadata"]["resourceVersion"]}

    answer = api_server.try_to_replace(change.new | {"metadata": change.new["metadata"] | metadata})
    api_server.delete(change.old)

    if change.path is None:
        assert answer.accepted, answer.body
    else:
        assert answer.refuses((change.path,), change.text), answer.body
