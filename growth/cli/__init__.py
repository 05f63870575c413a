"""The `growth` command, also found by kubectl as `kubectl growth`.

`growth NAME` is growth/cli/NAME.py, or growth/cli/NAME/command.py with what it needs beside it;
a dash becomes an underscore. Each has `add_arguments(parser)`, which declares its words, and
`run(arguments)`, which does it.
"""

from __future__ import annotations

from importlib.util import find_spec


def module_of(command: str) -> str:
    """The module of a command, found without importing it."""
    name = f"{__name__}.{command.replace('-', '_')}"
    spec = find_spec(name)
    is_folder = spec is not None and spec.submodule_search_locations is not None
    return f"{name}.command" if is_folder else name
