"""docs/reference/settings.md, generated from the settings of the processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from generators.markdown import as_sentence, markdown_table
from growth.api.descriptions import descriptions
from growth.service.settings import declared_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCESSES: Final = ("webhooks", "extender", "reconciler", "certs", "fleet", "sizing")
_OF_SETTINGS: Final = """\
# Settings of the processes

Generated from the code by `make crds`. A flag overrides its environment variable, a variable
overrides the file (`--config FILE`: YAML with the names of flags as keys), and the file overrides
the default. `--print-settings` shows the resulting values and where each comes from. Unknown
settings are an error.
"""


def settings_page() -> str:
    """The page of settings."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield _OF_SETTINGS
    for name in PROCESSES:
        process: Any = importlib.import_module(f"{name}.__main__").PROCESS
        meanings = descriptions(process.settings)
        yield f"## {process.name}\n"
        yield f"{as_sentence(process.purpose)}\n"
        rows = (
            (
                f"`{one.flag} {one.listed.value}`",
                f"`{one.variable}`",
                _default(one.information),
                meanings[one.field],
            )
            for one in sorted(declared_settings(process.settings), key=lambda one: one.flag)
        )
        yield markdown_table(("Flag", "Variable", "Default", "Meaning"), rows)


def _default(information: Any) -> str:
    if information.is_required():
        return "*required*"
    return "" if information.default is None else f"`{information.default}`"
