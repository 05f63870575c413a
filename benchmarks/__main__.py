"""`python -m benchmarks [NAME]`: what is claimed about speed and cost, measured on this machine.

A benchmark is a module here with a docstring, `add_arguments(parser)` and `run(arguments)`; a
module without `run` is a part of one. They print what they find and never fail because of a figure.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any, cast

from growth.errors import GrowthError

if TYPE_CHECKING:
    from types import ModuleType


def main(arguments: list[str] | None = None) -> int:
    """Runs one benchmark, or all of them in the order of their names."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        return max(_run(module, []) for module in _benchmarks().values())
    if words[0] in {"-h", "--help"}:
        return _list(_benchmarks())
    module = _benchmarks().get(words[0])
    if module is None:
        print(f"no benchmark is called {words[0]!r}; there is {', '.join(_benchmarks())}")
        return 2
    return _run(module, words[1:])


def _benchmarks() -> dict[str, ModuleType]:
    names = sorted(found.name for found in pkgutil.iter_modules(_package_path()))
    modules = {
        name: importlib.import_module(f"benchmarks.{name}")
        for name in names
        if not name.startswith("_")
    }
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def _package_path() -> list[str]:
    return cast("list[str]", importlib.import_module("benchmarks").__path__)


def _run(module: ModuleType, words: list[str]) -> int:
    name = module.__name__.removeprefix("benchmarks.")
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


def _list(benchmarks: dict[str, ModuleType]) -> int:
    print("usage: python -m benchmarks [NAME [OPTIONS]]\n")
    for name, module in benchmarks.items():
        print(f"  {name:12} {_first(module)}")
    return 0


def _first(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
