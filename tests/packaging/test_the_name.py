"""The distribution has one name, and nothing tells people to install another one."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from growth import DISTRIBUTION
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INSTALLS_A_STRANGER = re.compile(r"pip[x]? install [^\n]*?(?<![\w./-])growth(?![\w./-])")
READ = (
    "growth",
    "extender",
    "webhooks",
    "reconciler",
    "certs",
    "fleet",
    "sizing",
    "kwok",
    "manifests",
    "docs",
)
"""Folders of code and pages that people install from or read."""


def texts() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in READ:
        for kind in ("*.py", "*.md", "*.yaml", "Dockerfile"):
            yield from (ROOT / folder).rglob(kind)


def test_the_name_is_the_one_that_is_published() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    assert "reconciler" in project["optional-dependencies"]


def test_no_message_and_no_page_installs_the_package_of_a_stranger() -> None:
    found = [path for path in texts() if INSTALLS_A_STRANGER.search(path.read_text("utf-8"))]
    assert found == []
    assert INSTALLS_A_STRANGER.search("pip install growth[reconciler]")
