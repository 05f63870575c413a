"""The benchmark of admission runs, briefly; what it finds is for people to read."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.__main__ import main
from benchmarks.admission import NEITHER, AdmittedBurst, told
from benchmarks.webhook_pods import review
from tests.webhooks.reviews import pools_from
from tests.webhooks.table import POOLS
from tests.webhooks.test_cases import desk_with

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def this_process_stays_where_it_is() -> Iterator[None]:
    """The benchmark keeps its process to one core."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)


def test_its_review_is_one_that_is_changed() -> None:
    answer = json.loads(desk_with(pools_from(POOLS["prefer"])).answer(review()))

    assert answer["response"]["allowed"] is True
    assert "patch" in answer["response"]


@pytest.mark.usefixtures("this_process_stays_where_it_is")
def test_it_prints_both_servers_and_their_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["webhook", "--rate", "50", "--seconds", "0.5", "--rounds", "1", "--connections", "2"]

    assert main(words) == 0

    printed = capsys.readouterr().out
    for line in ("growth-webhooks", "reads the body only", "ratio"):
        assert re.search(rf"^{line} +\d+\.\d\d +\d+\.\d\d", printed, re.MULTILINE), printed


def test_pods_per_second_are_compared_with_those_of_the_same_round() -> None:
    found = {
        NEITHER: [AdmittedBurst(100, 2.0, 0.0), AdmittedBurst(50, 2.0, 0.0)],
        "webhook": [AdmittedBurst(90, 3.0, 0.4), AdmittedBurst(25, 3.0, 0.4)],
    }
    lines = told(found)
    assert re.search(r"^  neither +75 +2\.00 ms +0\.00 ms +1\.00$", lines[1])
    assert re.search(r"^  webhook +58 +3\.00 ms +0\.40 ms +0\.70   \(0\.50 to 0\.90", lines[2])
