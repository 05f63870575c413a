"""Answers of which a row tells a part."""

from __future__ import annotations

from typing_extensions import override


class AtLeast(frozenset[str]):
    """A row names some of these; all of those that it names have to be there."""

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and self.issuperset(other)

    __hash__ = frozenset.__hash__
