"""`python -m benchmarks [NAME]`: measure our claims about speed and cost on this machine.

A benchmark is a module here with a docstring, `add_arguments(parser)` and `run(arguments)`; a
module without `run` is a part of one. Benchmarks print what they find and never fail because of a
figure.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from growth.errors import GrowthError

if TYPE_CHECKING:
    from types import ModuleType


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark, or all of them in the order of their names."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        return max(_run(module, []) for module in _benchmarks())
    if words[0] in {"-h", "--help"}:
        return _list()
    if words[0] not in _names():
        known = ", ".join(_name(module) for module in _benchmarks())
        print(f"there is no benchmark {words[0]!r}; choose from {known}", file=sys.stderr)
        return 2
    return _run(importlib.import_module(f"benchmarks.{words[0]}"), words[1:])


def _names() -> list[str]:
    path = importlib.import_module("benchmarks").__path__
    return sorted(found.name for found in pkgutil.iter_modules(path) if found.name[0] != "_")


def _benchmarks() -> list[ModuleType]:
    modules = [importlib.import_module(f"benchmarks.{name}") for name in _names()]
    return [module for module in modules if hasattr(module, "run")]


def _run(module: ModuleType, words: list[str]) -> int:
    name = _name(module)
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}", description=_first(module)
    )
    module.add_arguments(parser)
    print(f"== {name}: {_first(module)}")
    try:
        result: Any = module.run(parser.parse_args(words))
    except GrowthError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    print()
    return int(result or 0)


def _list() -> int:
    print("usage: python -m benchmarks [NAME [OPTIONS]]\n")
    for module in _benchmarks():
        print(f"  {_name(module):12} {_first(module)}")
    return 0


def _name(module: ModuleType) -> str:
    return module.__name__.removeprefix("benchmarks.")


def _first(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
