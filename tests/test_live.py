"""The clusters that tests use."""

from __future__ import annotations

import pytest

from tests.live import kept_cluster


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"PYTEST_XDIST_WORKER": "gw1"}, None),
        ({"GROWTH_TEST_CLUSTER": "work"}, "work"),
        ({"GROWTH_TEST_CLUSTER": "work", "PYTEST_XDIST_WORKER": "gw1"}, "work-gw1"),
    ],
)
def test_processes_of_one_run_share_no_cluster(
    environment: dict[str, str], expected: str | None
) -> None:
    assert kept_cluster(environment) == expected
