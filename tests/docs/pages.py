"""The pages that people read: their text, their headings, and what is said in them to a shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FENCE: Final = re.compile(r"(?ms)^```(\w*)\n(.*?)^```")
INLINE: Final = re.compile(r"`([^`\n]+)`")
LINK: Final = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING: Final = re.compile(r"(?m)^#{1,6} +(.+?) *$")
COMMAND: Final = re.compile(r"(growth|kubectl|make|helm|python|docker|source|curl|git) ")
BETWEEN_COMMANDS: Final = {"·", "|", "||", "&&", ";", "&", "<", ">", ">>", "<(", ")", "("}


class Block(NamedTuple):
    """What stands between two fences."""

    language: str
    text: str


def pages() -> list[Path]:
    """All of them; each is a file of Markdown."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return top + sorted((ROOT / "docs").rglob("*.md"))


def name_of(page: Path) -> str:
    """As a failing test names it."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """What is set apart."""
    return [Block(*found) for found in FENCE.findall(page.read_text("utf-8"))]


def prose(page: Path) -> str:
    """All the rest."""
    return FENCE.sub("", page.read_text("utf-8"))


def inline(page: Path) -> list[str]:
    """Code inside of sentences."""
    return INLINE.findall(prose(page))


def links(page: Path) -> list[str]:
    """Where its links lead, those of pictures too."""
    return LINK.findall(INLINE.sub("`code`", prose(page)))


def anchors(page: Path) -> set[str]:
    """What can stand behind a # in a link to it, as GitHub makes it of headings."""
    return {_anchor(heading) for heading in HEADING.findall(prose(page))}


def _anchor(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def said_to_a_shell(page: Path) -> Iterator[list[str]]:
    """Each command in its blocks, as words; what stands between two of them is left out."""
    for block in blocks(page):
        for line in _lines(block):
            yield from _commands(line)


def _lines(block: Block) -> Iterator[str]:
    """Behind a prompt where there is one, else all lines where the first one is a command."""
    whole = _whole(block.text)
    if any(line.startswith("$ ") for line in whole):
        yield from (line[2:] for line in whole if line.startswith("$ "))
    elif whole and COMMAND.match(whole[0]):
        yield from filter(COMMAND.match, whole)


def _whole(text: str) -> list[str]:
    """Lines, where what a backslash or an open quote goes on with is one."""
    found: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if found and COMMAND.match(found[-1].removeprefix("$ ")) and found[-1].count("'") % 2:
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


def _commands(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    for word in [*lexer, ";"]:
        if word not in BETWEEN_COMMANDS:
            words.append(word)
        elif words:
            yield words
            words = []
