"""What `--help` looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

import growth
from extender.__main__ import PROCESS
from growth.api.descriptions import descriptions
from growth.service import usage
from growth.service.settings import declared_settings

GOLDEN = Path(__file__).with_name("help.txt")
"""As `COLUMNS=72 python -m extender --help` prints it, the version aside."""


def help_text(width: int) -> str:
    return usage.help_text(
        PROCESS.settings, name=PROCESS.name, purpose=PROCESS.purpose, width=width
    )


def test_the_help_at_a_fixed_width_is_what_people_were_shown() -> None:
    assert help_text(72) == GOLDEN.read_text().format(version=growth.__version__)


@pytest.mark.parametrize("width", [40, 72, 100])
def test_the_help_fits_into_the_terminal(width: int) -> None:
    assert max(len(line) for line in help_text(width).splitlines()) <= width


def test_the_help_of_a_wide_terminal_stays_readable() -> None:
    assert help_text(400) == help_text(100)


def test_every_setting_is_explained() -> None:
    text = " ".join(help_text(100).split())

    for one in declared_settings(PROCESS.settings):
        meaning = descriptions(PROCESS.settings)[one.field]
        assert meaning.endswith(".")
        assert f"{one.flag} {one.listed.value} {meaning}" in text
        assert f"Variable: {one.variable}." in text
