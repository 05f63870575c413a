"""The pages of commands and settings are what the parsers and the settings say."""

from __future__ import annotations

import pytest

from generators.commands import commands_page
from generators.settings import settings_page
from growth.cli.__main__ import COMMANDS
from growth.cli.completion.grammar import command_grammar
from tests.live import ROOT

PAGES = {"commands": commands_page, "settings": settings_page}


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_up_to_date(page: str) -> None:
    written = (ROOT / "docs" / "reference" / f"{page}.md").read_text("utf-8")
    assert written == PAGES[page](), "make crds writes it anew"


def test_each_command_has_a_part_and_each_flag_of_its_own_a_line() -> None:
    told = commands_page()
    assert all(f"## growth {name}\n" in told for name in COMMANDS)
    flags = {
        flag.spellings[-1] for each in command_grammar(COMMANDS).values() for flag in each.flags
    }
    ordinary = {"--help", "--kubeconfig", "--context"}
    assert {flag for flag in flags - ordinary if f"`{flag}`" not in told} == set()
