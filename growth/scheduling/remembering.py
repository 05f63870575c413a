"""What is worked out about an immutable object and kept as long as the object."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_T = TypeVar("_T")


class Remembers(msgspec.Struct, frozen=True, dict=True):
    """Keeps results that depend on nothing but the object and the key."""

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def remembered(self, key: Hashable, count: Callable[[], _T]) -> _T:
        """The result of `count`, computed once for each key."""
        memory = self._memory
        if key not in memory:
            memory[key] = count()
        known: _T = memory[key]
        return known
