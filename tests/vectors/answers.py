"""Answers of which a row tells a part, or tells them in an order of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable


class AtLeast(frozenset[str]):
    """A row names some of these; all of those that it names have to be there."""

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and self.issuperset(other)

    __hash__ = frozenset.__hash__


class InAnyOrder(tuple[Any, ...]):
    """A row names all of these, in whichever order."""

    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and _sorted(self) == _sorted(other)

    __hash__ = tuple.__hash__


def _sorted(entries: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(each, sort_keys=True) for each in entries)
