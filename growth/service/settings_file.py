"""The settings file: one level of `key: value`, with the names of flags as keys.

Values are used as the text in the file, without YAML's types: `context: 1e3` is a name, and so is
`context: on`, as on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from growth.api.yaml_text import BrokenText, documents
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class SettingLine:
    """A line of the file. The text is None if there is a list or a mapping instead of a value."""

    key: str
    text: str | None
    line: int


def entries(name: str, *, named_by: str) -> list[SettingLine]:
    """The settings in the file; an empty value is the same as none."""
    try:
        found = list(documents(Path(name).read_text("utf-8-sig")))
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise Misconfigured(f"{named_by}: {name}: {reason}") from None
    except UnicodeDecodeError:
        raise Misconfigured(f"{named_by}: {name}: this isn't UTF-8 text") from None
    except BrokenText as broken:
        raise Misconfigured(f"{name}:{broken.line}: {broken}") from None
    if len(found) > 1:
        second = found[1].line_of(())
        raise Misconfigured(f"{name}:{second}: a second document begins here; keep one")
    return [entry for document in found for entry in _entries(document.node, name)]


def _entries(root: yaml.Node, name: str) -> Iterator[SettingLine]:
    if not isinstance(root, yaml.MappingNode):
        raise Misconfigured(f"{name}:1: expected settings, such as log-level: debug")
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(value, yaml.ScalarNode):
            yield SettingLine(str(key.value), None, line)
        elif not value.tag.endswith(":null"):
            yield SettingLine(str(key.value), str(value.value), line)
