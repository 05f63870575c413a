"""Which tests stay in one process."""

from __future__ import annotations

from pathlib import Path

from tests import spreading
from tests.live import ROOT
from tests.spreading import kept_together


def test_the_tests_of_a_file_stay_together() -> None:
    first = kept_together("tests/cli/test_top.py::test_one[a::b]")

    assert first == kept_together("tests/cli/test_top.py::test_two")
    assert first != kept_together("tests/cli/test_cost.py::test_one")


def test_the_files_of_a_folder_that_share_a_cluster_stay_together() -> None:
    first = kept_together("tests/webhooks/test_policy.py::test_one")

    assert first == kept_together("tests/webhooks/test_table.py::test_two")
    assert first != kept_together("tests/manifests/test_chart.py::test_one")


def test_each_folder_that_shares_a_cluster_is_there() -> None:
    assert {folder for folder in spreading.SHARING if Path(ROOT, "tests", folder).is_dir()} == (
        spreading.SHARING
    )
