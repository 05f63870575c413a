"""Stories of a fleet with faults: no cluster twice, none lost, none deleted that is needed.

The auditor sees the truth. Each way of breaking the rules here must make him find something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fleet.passes
import fleet.reports.judging
from fleet.simulation.__main__ import main
from fleet.simulation.story import FleetTale
from tests.simulation import today

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("seed", [lambda: 1, today.first], ids=["a fixed seed", "a seed of today"])
def test_a_day_of_faults_ends_without_a_breach(seed: Callable[[], int]) -> None:
    story = FleetTale(seed(), days=0.7, regions=2).told()
    assert story.breaches == (), f"seed {seed()}: {story.text}"
    assert story.created


@pytest.mark.long
@pytest.mark.parametrize("offset", range(6))
def test_a_week_of_faults_ends_without_a_breach(offset: int) -> None:
    story = FleetTale(today.first() + offset, days=7).told()
    assert story.breaches == (), story.text
    assert story.deleted


def test_the_same_seed_tells_the_same_story() -> None:
    assert FleetTale(7, days=0.2).told() == FleetTale(7, days=0.2).told()


def _never(*_: Any, **__: Any) -> bool:
    return False


def _always(*_: Any, **__: Any) -> bool:
    return True


BREAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "in the middle of a step": lambda patch: patch.setattr(
        fleet.reports.judging, "is_scaling", _never
    ),
    "comes, but": lambda patch: patch.setattr(fleet.passes, "needs_cluster", _always),
    "without a ready sibling": lambda patch: (
        patch.setattr("fleet.clusters.deleting.has_ready_sibling", _always),
        patch.setattr("fleet.clusters.shrinking.has_ready_sibling", _always),
    )[0],
}


@pytest.mark.parametrize("breach", BREAKS)
def test_the_auditor_finds_what_a_broken_rule_does(
    breach: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    BREAKS[breach](monkeypatch)
    seeds = range(1, 30)
    stories = (FleetTale(seed, days=0.2, regions=2).told() for seed in seeds)
    assert any(breach in found for story in stories for found in story.breaches)


def test_the_command_prints_a_line_for_each_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "1", "--first", "3", "--days", "0.1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 seeds from 3: 0 breaches"
