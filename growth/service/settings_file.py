"""The file of settings: one level of `key: value`, the keys being the names of the flags.

Values are taken as the text that stands there, not as what YAML makes of it: `context: 1e3` is a
name and `context: on` is one too, the same as on the command line.
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
    """One line of the file. The text is None where a list or more keys stand instead of a value."""

    key: str
    text: str | None
    line: int


def entries(name: str, *, named_by: str) -> list[SettingLine]:
    """What the file says; an empty file and an empty value say nothing."""
    try:
        found = list(documents(Path(name).read_text("utf-8-sig")))
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise Misconfigured(f"{named_by}: {name}: {reason}") from None
    except UnicodeDecodeError:
        raise Misconfigured(f"{named_by}: {name}: this is not UTF-8 text") from None
    except BrokenText as broken:
        raise Misconfigured(f"{name}:{broken.line}: {broken}") from None
    if len(found) > 1:
        second = found[1].line_of(())
        raise Misconfigured(f"{name}:{second}: a second document begins here; keep one")
    return [entry for document in found for entry in _entries(document.node, name)]


def _entries(root: yaml.Node, name: str) -> Iterator[SettingLine]:
    if not isinstance(root, yaml.MappingNode):
        raise Misconfigured(f"{name}:1: settings are expected here, like log-level: debug")
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(value, yaml.ScalarNode):
            yield SettingLine(str(key.value), None, line)
        elif not value.tag.endswith(":null"):
            yield SettingLine(str(key.value), str(value.value), line)
