"""Objects of growth that stand in the pages are valid, so that they can be taken over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from growth.api import files
from tests.docs.pages import blocks, name_of, pages

if TYPE_CHECKING:
    from pathlib import Path

OURS: Final = re.compile(r"(?m)^apiVersion: growth(\.dev)?/v1alpha1$")
TO_BE_FILLED_IN: Final = {"<the 64 digits>": "0" * 64}
PAGES: Final = [
    pytest.param(page, id=name_of(page))
    for page in pages()
    if any(OURS.search(block.text) for block in blocks(page))
]


@pytest.mark.parametrize("page", PAGES)
def test_an_object_of_ours_is_valid(page: Path) -> None:
    for number, block in enumerate(blocks(page)):
        if OURS.search(block.text) and block.language == "yaml":
            text = block.text
            for gap, filling in TO_BE_FILLED_IN.items():
                text = text.replace(gap, filling)
            assert files.read_documents([(f"block {number}", text)]).resources


def test_there_are_some() -> None:
    assert len(PAGES) >= 4
