"""Names as people see and type them: one short form, and one way to find what is meant.

A request, its machine, its node and its removal share the name `{pool}-{uuid}`, for which no
terminal has room. People see as much of it as tells it from all others, and any part that does so
is taken for the whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from growth.cli.terminal.texts import first_few
from growth.errors import Misconfigured
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

LEAST: Final = 4
"""Digits of the uuid that are always shown."""
SHOWN: Final = 5
"""Names in one line."""
MACHINE: Final = re.compile(
    # Not behind a slash: a static pod is named after its node.
    r"(?<![\w./-])(?P<pool>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-"
    r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])"
)
LEFT_OUT: Final = "…"
"""Before the end of a name whose beginning there is no room for."""
FOR_KUBECTL: Final = "kubectl "
KINDS: Final = {
    "pod": ("po", "pod", "pods"),
    "node": (
        *("no", "node", "nodes", "nr", "noderequest", "noderequests"),
        *("nrec", "noderecord", "noderecords"),
        *("nrr", "noderemovalrequest", "noderemovalrequests"),
    ),
    "pool": ("np", "pool", "pools", "nodepool", "nodepools"),
}
"""What can be named, in the words of kubectl. Requests, records and removals have a node's name."""


class ShortNames:
    """The short form of each name, among all names that there are."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted(set(known))

    def of(self, name: str) -> str:
        """The pool and the first digits of the uuid; another name as it is."""
        found = MACHINE.fullmatch(name)
        if found is None:
            return name
        least = found.start("uuid") + LEAST
        alike = max((_alike(name, near) for near in self._beside(name)), default=0)
        end = max(least, alike + 1)
        return name[: end + 1] if name[end - 1] == "-" else name[:end]

    def in_text(self, text: str) -> str:
        """A text with short names, but for what is to be given to kubectl, which wants them whole.

        What kubectl is told ends the text in every message of ours.
        """
        before, kubectl, behind = text.partition(FOR_KUBECTL)
        return MACHINE.sub(lambda found: self.of(found[0]), before) + kubectl + behind

    def _beside(self, name: str) -> list[str]:
        """Its neighbours in the order of the alphabet: none is more like it than they."""
        at = bisect_left(self._known, name)
        behind = at + (self._known[at : at + 1] == [name])
        return [*self._known[max(0, at - 1) : at], *self._known[behind : behind + 1]]


ALONE: Final = ShortNames()
"""For a view that shows one name at a time."""


def _alike(name: str, other: str) -> int:
    """How many letters two names have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(name, other, strict=False)))


def kind_and_name(kind: str, name: str | None) -> tuple[str, str]:
    """What is named by `pod NAME` or, in one word, `pod/NAME`."""
    spelled, slash, within = kind.partition("/")
    if bool(within) is (name is not None) or bool(slash) is not bool(within):
        raise Misconfigured(f"expected one name: {spelled} NAME, or {spelled}/NAME")
    known = kind_of(spelled)
    if known is None:
        raise Misconfigured(f"{spelled}: expected one of {', '.join(KINDS)}")
    return known, within or str(name)


def kind_of(word: str) -> str | None:
    """The kind that a word of kubectl's stands for; with the group behind it, as `-o name` says."""
    spelled = word.lower().removesuffix(".growth.dev")
    return next((kind for kind, words in KINDS.items() if spelled in words), None)


def bare(word: str, *, kind: str) -> str:
    """A name without the kind that may stand before it: default, pool/default, np/default."""
    before, slash, name = word.partition("/")
    return name if slash and kind_of(before) == kind else word


def name_meant(part: str, names: Collection[str], *, kind: str) -> str:
    """The one name that a part of it stands for: first as a whole, then as its beginning, ..."""
    given = part.lower().removeprefix(LEFT_OUT)
    for fits in _FITS:
        found = [name for name in sorted(names) if fits(name, given)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Misconfigured(_several(part, found, names, kind=kind))
    short = ShortNames(names)
    raise unknown(part, [short.of(name) for name in names], kind=kind)


def unknown(word: str, known: Iterable[str], *, kind: str) -> Misconfigured:
    """What to say where nothing has this name."""
    names = sorted(known)
    hint = did_you_mean(word, names)
    if not hint and len(names) <= SHOWN:
        hint = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"
    return Misconfigured(f'no {kind} "{word}"{hint and f"; {hint}"}')


def _several(part: str, found: list[str], names: Iterable[str], *, kind: str) -> str:
    short = ShortNames(names)
    shown = first_few(map(short.of, found), most=SHOWN)
    return f'"{part}" matches {len(found)} {kind}s: {shown}'


def _has_digits(name: str, part: str) -> bool:
    found = MACHINE.fullmatch(name)
    return found is not None and found["uuid"].startswith(part)


_FITS: Final[tuple[Callable[[str, str], bool], ...]] = (
    str.__eq__,
    str.startswith,
    _has_digits,
    str.__contains__,
)
"""From the closest to the loosest; the first that anything fits decides."""
