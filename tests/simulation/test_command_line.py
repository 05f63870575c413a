"""`python -m reconciler.simulation`: what it prints, and that what it prints can be run."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import msgspec
import pytest

from reconciler.simulation.__main__ import main
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.run import run_story
from reconciler.simulation.shrink import shrunk
from reconciler.simulation.story import Story, story
from tests.simulation.mutants import MUTANTS

if TYPE_CHECKING:
    from pathlib import Path

FORGETFUL = next(mutant for mutant in MUTANTS if mutant.row == 3)
"""A planted mistake, as the right rules breach nothing."""
FAILING = ["--faults", "watch-lag", "--minutes", "8"]


def test_a_seed_is_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "2", "--minutes", "5", "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["breaches"] == 0
    assert "replay" not in told
    assert told["events"] > 0
    assert told["secondsPerSecond"] > 0
    assert len(told["hash"]) == 32


def test_so_many_seeds_are_drawn_from_the_clock_and_can_be_run_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--seeds", "2", "--minutes", "1", "--workloads", "1", "--faults", "none"]
    assert main(words, clock=lambda: 1234.5) == 0
    drawn = capsys.readouterr()
    assert drawn.out.splitlines()[-1] == "2 seeds, 0 breaches"
    assert "--first 1234" in drawn.err
    main([*words, "--first", "1234"])
    again = capsys.readouterr()
    assert hashes(again.out) == hashes(drawn.out)
    assert not again.err


def hashes(printed: str) -> list[str]:
    return [line.partition("hash ")[2].split()[0] for line in printed.splitlines()[:-1]]


MISTAKEN = (
    ["--seeds", "some"],
    ["--seeds", "0"],
    ["--seeds", "3..2"],
    ["--seeds", "1..2", "--first", "3"],
    ["--first", "3"],
)


@pytest.mark.parametrize("words", MISTAKEN, ids=" ".join)
def test_seeds_that_cannot_be_meant_are_refused_with_how_to_write_them(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert "300" in capsys.readouterr().err


def test_a_breach_ends_with_one_and_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--seeds", "1..2", *FAILING], parts=FORGETFUL.parts()) == 1
    printed = capsys.readouterr().out.splitlines()
    replays = [line for line in printed if line.startswith("replay: ")]
    assert printed[-1] == f"2 seeds, {len(replays)} breaches"
    replay = replays[0]
    words = shlex.split(replay.removeprefix("replay: python -m reconciler.simulation "))
    assert main(words, parts=FORGETFUL.parts()) == 1
    assert main(words) == 0


def test_a_shrunk_breach_is_told_with_what_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--seed", "2", "--shrink", "-o", "json", *FAILING]
    assert main(words, parts=FORGETFUL.parts()) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["breaches"] == 1
    assert told["breach"]["rule"] == "one intent a pod"
    assert "--workloads" in told["replay"]
    words = shlex.split(told["replay"].removeprefix("python -m reconciler.simulation "))
    assert main([*words, "-o", "json"], parts=FORGETFUL.parts()) == 1
    again = json.loads(capsys.readouterr().out)
    assert (again["hash"], again["breach"]) == (told["hash"], told["breach"])


def test_a_timeline_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "timeline"
    main(["--seed", "1", "--minutes", "5", "--trace", str(file)])
    assert "process 1 starts" in file.read_text()


def test_a_fault_that_is_not_known_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--faults", "rain"])
    assert "watch-lag" in capsys.readouterr().err


def test_a_failing_story_is_made_small_and_still_fails() -> None:
    def fails(told: Story) -> bool:
        return SimulatedFault.RESTART in told.faults and told.minutes >= 7 and told.workloads >= 3

    large = Story(seed=1, faults=tuple(SimulatedFault), minutes=500.0)
    small = shrunk(large, fails)
    assert fails(small)
    assert small.faults == (SimulatedFault.RESTART,)
    assert small.minutes < 10
    assert small.workloads == 3


def test_a_run_is_told_again_by_its_command() -> None:
    told = msgspec.structs.replace(story(4), workloads=3)
    assert told.command == "python -m reconciler.simulation --seed 4 --minutes 60 --workloads 3"
    assert (
        run_story(msgspec.structs.replace(told, minutes=3.0)).hash
        == run_story(msgspec.structs.replace(told, minutes=3.0)).hash
    )
