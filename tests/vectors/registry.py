"""Which kinds of rows can be run: each by one adapter, registered where it is written.

An adapter gets a row's input and answers in the words of the row's `expected`; it may answer more
than a row asks for. What it raises is the row's failure, unless the rule itself is to refuse: then
it answers `{"error": True}`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from tests.vectors import adapters
from tests.vectors.rows import Json

Adapter = Callable[[Json], Json]

_ADAPTERS: dict[tuple[str, str], Adapter] = {}


def adapts(kind: str, *, system: str = "growth") -> Callable[[Adapter], Adapter]:
    """Registers the one adapter of a kind."""

    def register(adapter: Adapter) -> Adapter:
        if (system, kind) in _ADAPTERS:
            raise ValueError(f"two adapters for {kind} of {system}")
        _ADAPTERS[system, kind] = adapter
        return adapter

    return register


def adapter_of(system: str, kind: str) -> Adapter | None:
    """The adapter of a kind, if it has one."""
    for module in pkgutil.iter_modules(adapters.__path__):
        importlib.import_module(f"{adapters.__name__}.{module.name}")
    return _ADAPTERS.get((system, kind))
