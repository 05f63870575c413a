"""Answers of which a row tells a part, or tells them in an order of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from growth.scheduling.quantity import milli

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


class AnyOf(tuple[Any, ...]):
    """One of several, of which the row means any: its input doesn't say which."""

    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return any(each == other for each in self)

    __hash__ = tuple.__hash__


class Containing(str):
    """A text of which a row tells a part."""

    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other in str(self)

    __hash__ = str.__hash__


class SameAmount(str):
    """A quantity, which a row may write in another way."""

    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and milli(str(self)) == milli(other)

    __hash__ = str.__hash__


class AtMost(tuple[float]):
    """A number that a row bounds."""

    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and self[0] <= other

    __hash__ = tuple.__hash__


def _sorted(entries: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(each, sort_keys=True) for each in entries)
