"""Commands of a guide that need no cluster work as printed, with the files that the guide shows."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from growth.cli.__main__ import main
from tests.docs.pages import blocks, name_of, pages, said_to_a_shell
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE: Final = re.compile(r"\A# (\S+\.yaml): ")
"""How a block says which file it is to be saved as."""


def files_of(page: Path) -> Iterator[tuple[str, str]]:
    for block in blocks(page):
        if block.language == "yaml" and (found := FILE.match(block.text)):
            yield found[1], block.text


GUIDES: Final = [pytest.param(page, id=name_of(page)) for page in pages() if [*files_of(page)]]


@pytest.mark.parametrize("page", GUIDES)
def test_what_is_said_without_a_cluster_works_as_printed(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    for name, text in files_of(page):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    offline = [words[1:] for words in said_to_a_shell(page) if is_offline(words)]

    assert {words[0] for words in offline} >= {"validate", "plan"}
    for words in offline:
        assert main(words) == 0, capsys.readouterr().err


def is_offline(words: list[str]) -> bool:
    return words[:2] in (["growth", "validate"], ["growth", "plan"]) and words[2] == "-f"


def test_both_guides_to_growth_from_elsewhere_are_run() -> None:
    assert {page.id for page in GUIDES} >= {
        "docs/guides/from-cluster-autoscaler.md",
        "docs/guides/from-karpenter.md",
    }
