"""The fault table of the concept page names tests that there are."""

from __future__ import annotations

import re

from tests.live import ROOT

PAGE = ROOT / "docs" / "concepts" / "provisioning.md"
NAMED = re.compile(r"`(test_\w+|Test\w+)`")
DEFINED = re.compile(r"^(?:def|class) (test_\w+|Test\w+)|^(Test\w+) =", re.MULTILINE)


def test_each_row_of_the_fault_table_names_a_test_that_there_is() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if NAMED.search(line)]
    named = {name for row in rows for name in NAMED.findall(row)}
    files = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {one or other for text in files for one, other in DEFINED.findall(text)}
    assert len(rows) > 10
    assert named <= defined, named - defined
