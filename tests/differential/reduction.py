"""Cuts a case down until nothing can go: what is left is what the difference is about.

Every part of every manifest is tried for itself, many at the same time, as the stage has many
places; then as many as possible of the droppable parts go together. That takes a few rounds where
one by one would take hundreds. What the API server refuses is simply not a difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tests.differential.cases import Case

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    Differs = Callable[[Sequence[Case]], Awaitable[list[bool]]]

Path: TypeAlias = tuple[str | int, ...]

_KEPT = {"apiVersion", "kind", "metadata", "name", "namespace", "nodeName", "claimRef", "spec"}
"""Without these a manifest is none, or another one."""


async def reduced(case: Case, differs: Differs) -> Case:
    """The smallest case found that still differs: first in objects, then in what they hold."""
    for parts in (_objects, _fields):
        case = await _smaller(case, differs, parts)
    return case


async def _smaller(case: Case, differs: Differs, parts: Callable[[Case], Iterator[Path]]) -> Case:
    while True:
        paths = list(parts(case))
        verdicts = await differs([without(case, [path]) for path in paths])
        droppable = [path for path, still in zip(paths, verdicts, strict=True) if still]
        if not droppable:
            return case
        case = await _without_most(case, droppable, differs)


async def _without_most(case: Case, droppable: list[Path], differs: Differs) -> Case:
    """Without all of them, or half, a quarter and so on; one alone surely works."""
    counts = [len(droppable)]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    smaller = [without(case, droppable[:count]) for count in counts]
    verdicts = await differs(smaller)
    found = (each for each, still in zip(smaller, verdicts, strict=True) if still)
    return next(found, smaller[-1])


def _objects(case: Case) -> Iterator[Path]:
    yield from (("objects", at) for at in range(len(case.objects)))


def _fields(case: Case) -> Iterator[Path]:
    """Everything that could go, whole objects once more among it."""
    builtins = msgspec.to_builtins(case)
    yield from _objects(case)
    yield from _within(builtins["pod"], ("pod",))
    yield from _within(builtins["objects"], ("objects",), depth=1)


def _within(tree: Any, path: Path, depth: int = 0) -> Iterator[Path]:
    match tree:
        case dict():
            inner: list[tuple[str | int, Any]] = [*tree.items()]
        case list() | tuple():
            inner = [*enumerate(tree)]
        case _:
            return
    for key, _ in inner:
        if depth == 0 and key not in _KEPT:
            yield (*path, key)
    for key, value in inner:
        yield from _within(value, (*path, key), depth=max(0, depth - 1))


def without(case: Case, paths: Sequence[Path]) -> Case:
    """The case without these parts; later parts of a list go first, so that places hold."""
    builtins = msgspec.json.decode(msgspec.json.encode(case))
    for path in sorted(paths, key=_as_sortable, reverse=True):
        tree = builtins
        for key in path[:-1]:
            tree = tree[key]
        del tree[path[-1]]
    return msgspec.convert(builtins, Case)


def _as_sortable(path: Path) -> list[tuple[int, str]]:
    return [(key, "") if isinstance(key, int) else (-1, key) for key in path]
