"""The fault table of the concept page is whole, and each of its rows names tests that there are."""

from __future__ import annotations

import re
from typing import Final

from tests.live import ROOT

PAGE: Final = ROOT / "docs" / "concepts" / "provisioning.md"
NAMED: Final = re.compile(r"`(test_\w+|Test\w+)`")
DEFINED: Final = re.compile(
    r"^(?:async )?(?:def|class) (test_\w+|Test\w+)|^(Test\w+) =", re.MULTILINE
)
ROW: Final = re.compile(r"^\| (\d+|-) \| [^|]+ \| [^|]+ \| [^|]+ \|$")
"""Of four columns; figures of the same page have others."""
ROWS: Final = {*range(1, 4), *range(8, 13), *range(15, 19), *range(27, 30), *range(31, 34)}
"""Of the catalogue of faults: those that buying, booting and giving back have to bear."""


def rows() -> list[tuple[str, str]]:
    """The number and the whole of each row."""
    found = ((ROW.match(line), line) for line in PAGE.read_text().splitlines())
    return [(row[1], line) for row, line in found if row is not None]


def test_each_row_of_the_fault_table_names_a_test_that_there_is() -> None:
    files = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {one or other for text in files for one, other in DEFINED.findall(text)}
    for _, line in rows():
        named = set(NAMED.findall(line))
        assert named, line
        assert named <= defined, named - defined


def test_no_row_of_the_catalogue_is_missing() -> None:
    assert {int(number) for number, _ in rows() if number != "-"} >= ROWS
