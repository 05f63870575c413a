"""The order in which the files of tests run."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath

from tests.order import Turn, number_of, place_of, replay, seed_from, turn_of

FILES = [
    PurePath("tests", folder, f"test_{name}.py")
    for folder in ("api", "certs", "cli", "stories", "thread", "vectors")
    for name in ("first", "second", "third")
]
LAST = PurePath("tests", "manifests", "test_without_growth.py")


def ordered(files: list[PurePath], seed: str) -> list[PurePath]:
    return sorted(files, key=partial(place_of, seed=seed))


def test_a_seed_draws_one_order_however_the_files_are_found() -> None:
    assert ordered(FILES, "1") == ordered(FILES[::-1], "1")


def test_other_seeds_draw_other_orders() -> None:
    orders = {tuple(ordered(FILES, str(seed))) for seed in range(20)}

    assert len(orders) == 20


def test_some_files_alone_come_in_the_same_order_as_among_all() -> None:
    some = FILES[::2]

    assert ordered(some, "1") == [file for file in ordered(FILES, "1") if file in some]


def test_whatever_is_drawn_long_files_come_first_and_what_ends_an_installation_last() -> None:
    for seed in range(20):
        turns = [turn_of(file) for file in ordered([LAST, *FILES], str(seed))]

        assert turns == [Turn.LONG] * 6 + [Turn.USUAL] * 12 + [Turn.LAST]


def test_whatever_is_drawn_the_files_of_a_folder_follow_each_other() -> None:
    for seed in range(20):
        folders = [folder for folder, _ in itertools.groupby(ordered(FILES, str(seed)), _folder)]

        assert len(folders) == len(set(folders))


def _folder(file: PurePath) -> PurePath:
    return file.parent


def test_within_a_folder_files_are_drawn_too() -> None:
    vectors = FILES[-3:]

    assert len({tuple(ordered(vectors, str(seed))) for seed in range(40)}) == 6


def test_the_day_is_the_seed_where_none_is_named() -> None:
    assert seed_from({"ORDER": "7"}) == "7"
    for empty in ({}, {"ORDER": ""}):
        before, seed, after = datetime.now(UTC), seed_from(empty), datetime.now(UTC)
        assert seed in {before.date().isoformat(), after.date().isoformat()}


def test_the_command_that_runs_the_same_again_can_be_copied() -> None:
    command = replay("a seed", ["-m", "not long", "tests/api"])

    assert command == "ORDER='a seed' pytest -m 'not long' tests/api"


def test_a_day_has_the_number_after_that_of_the_day_before() -> None:
    assert number_of("2027-01-01") == number_of("2026-12-31") + 1


def test_a_seed_that_is_no_day_has_a_number_of_its_own() -> None:
    assert number_of("7") == number_of("7") != number_of("8")
