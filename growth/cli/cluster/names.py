"""Short names for people, and finding the object that a name refers to.

A request, its machine, its node and its removal share the name `{pool}-{uuid}`, which is too long
for a terminal. Commands show as much of it as is needed to distinguish it from all others, and
accept any unique part.
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
"""The minimum number of shown digits of the UUID."""
SHOWN: Final = 5
"""The most names in one line."""
MACHINE: Final = re.compile(
    # Not behind a slash: a static pod is named after its node.
    r"(?<![\w./-])(?P<pool>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-"
    r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])"
)
LEFT_OUT: Final = "…"
"""Marks a name that is shown without its beginning."""
FOR_KUBECTL: Final = "kubectl "
KINDS: Final = {
    "pod": ("po", "pod", "pods"),
    "node": (
        *("no", "node", "nodes", "nr", "noderequest", "noderequests"),
        *("nrec", "noderecord", "noderecords"),
        *("nrr", "noderemovalrequest", "noderemovalrequests"),
    ),
    "pool": ("np", "pool", "pools", "nodepool", "nodepools"),
    "hvpa": ("hvpa", "hvpas"),
}
"""The kinds, in kubectl's words. Requests, records and removals have the names of their nodes."""


class ShortNames:
    """The short form of each name, unique among all names."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted(set(known))

    def of(self, name: str) -> str:
        """The pool and the first digits of the UUID; other names are unchanged."""
        found = MACHINE.fullmatch(name)
        if found is None:
            return name
        least = found.start("uuid") + LEAST
        alike = max((_alike(name, near) for near in self._beside(name)), default=0)
        end = max(least, alike + 1)
        return name[: end + 1] if name[end - 1] == "-" else name[:end]

    def in_text(self, text: str) -> str:
        """The text with short names, except in kubectl commands, which need full names.

        In growth's messages, a kubectl command always comes last.
        """
        before, kubectl, behind = text.partition(FOR_KUBECTL)
        return MACHINE.sub(lambda found: self.of(found[0]), before) + kubectl + behind

    def _beside(self, name: str) -> list[str]:
        """Its alphabetical neighbours, because no other name is more similar."""
        at = bisect_left(self._known, name)
        behind = at + (self._known[at : at + 1] == [name])
        return [*self._known[max(0, at - 1) : at], *self._known[behind : behind + 1]]


ALONE: Final = ShortNames()
"""The short name, for a view that shows one name at a time."""


def _alike(name: str, other: str) -> int:
    """The length of the common prefix of two names."""
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(name, other, strict=False)))


def kind_and_name(kind: str, name: str | None) -> tuple[str, str]:
    """The kind and name in `pod NAME` or `pod/NAME`."""
    spelled, slash, within = kind.partition("/")
    if bool(within) is (name is not None) or bool(slash) is not bool(within):
        raise Misconfigured(f"expected one name: {spelled} NAME, or {spelled}/NAME")
    known = kind_of(spelled)
    if known is None:
        raise Misconfigured(f"{spelled}: expected one of {', '.join(KINDS)}")
    return known, within or str(name)


def kind_of(word: str) -> str | None:
    """The kind for one of kubectl's words; the group may follow it, as in `-o name`."""
    spelled = word.lower().removesuffix(".growth.dev")
    return next((kind for kind, words in KINDS.items() if spelled in words), None)


def bare(word: str, *, kind: str) -> str:
    """The name without a kind before it: default, pool/default, np/default."""
    before, slash, name = word.partition("/")
    return name if slash and kind_of(before) == kind else word


def name_meant(part: str, names: Collection[str], *, kind: str) -> str:
    """The only name that matches: as a whole, as a beginning, and so on."""
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
    """The error for an unknown name."""
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
"""Matches from exact to loose; the first kind of match that finds something decides."""
