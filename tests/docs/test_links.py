"""Links lead somewhere, and what is named in passing is there."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.pages import anchors, inline, links, name_of, pages
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES: Final = [pytest.param(page, id=name_of(page)) for page in pages()]
ELSEWHERE: Final = {
    "github.com",
    "docs.hetzner.com",
    "karpenter.sh",
    "keepachangelog.com",
    "kubernetes.io",
    "kwok.sigs.k8s.io",
    "semver.org",
}
"""Whom we send people to. What is there can't be asked from a test, so each one is a decision."""
FOLDERS: Final = ("benchmarks", "docs", "growth", "kwok", "manifests", "reconciler", "tests")
PATH: Final = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]+")
GONE: Final = re.compile(r"test_[a-z0-9_]+(\.\.\.)?")


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    inside = [link for link in links(page) if "://" not in link]

    assert [link for link in inside if not is_there(page, link)] == []


def is_there(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not heading or heading in anchors(target))


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_elsewhere_leads_to_whom_we_know(page: Path) -> None:
    outside = [link for link in links(page) if "://" in link]
    hosts = {re.fullmatch(r"https://([^/]+)(/.*)?", link) for link in outside}

    assert {host[1] if host else "not https" for host in hosts} <= ELSEWHERE


@pytest.mark.parametrize("page", PAGES)
def test_a_path_that_is_named_is_there(page: Path) -> None:
    named = [path for code in inline(page) for path in PATH.findall(code) if code == path]

    assert [path for path in named if not is_in_the_tree(path)] == []


def is_in_the_tree(path: str) -> bool:
    return path == "growth/v1alpha1" or any(ROOT.glob(path.rstrip("/")))


@pytest.mark.parametrize("page", PAGES)
def test_a_test_that_is_named_is_there(page: Path) -> None:
    named = {code for code in inline(page) if GONE.fullmatch(code)}

    assert {name for name in named if not is_a_test(name)} == set()


def is_a_test(name: str) -> bool:
    if name.endswith("..."):
        return any(each.startswith(name.removesuffix("...")) for each in all_tests())
    return name in all_tests()


@cache
def all_tests() -> frozenset[str]:
    """Functions and modules."""
    files = [*(ROOT / "tests").rglob("test_*.py")]
    functions = (
        name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    )
    return frozenset([*functions, *(file.stem for file in files)])


def test_every_page_is_found_from_the_readme() -> None:
    found = {ROOT / "README.md"}
    more = list(found)
    while more:
        page = more.pop()
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            reached = target.rglob("*.md") if target.is_dir() else (target,)
            fresh = {each for each in reached if each.suffix == ".md" and each.exists()} - found
            found |= fresh
            more += fresh
    assert {name_of(page) for page in pages()} - {name_of(page) for page in found} == set()


def test_each_design_has_a_number_of_its_own_that_its_title_says() -> None:
    numbered = ROOT.glob("docs/designs/[0-9]*.md")
    designs = sorted(page for page in numbered if page.stem != "0000-template")
    numbers = [page.stem[:4] for page in designs]

    assert sorted(set(numbers)) == numbers
    assert [page.name for page in designs if f"# {page.stem[:4]}: " not in page.read_text()] == []
