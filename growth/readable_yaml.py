"""YAML that is written for people: in the order of its author, with texts as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 100
"""Where a line is folded."""


def readable_yaml(document: object, *, width: int = WIDTH) -> str:
    """One document."""
    text: str = yaml.dump(
        document, Dumper=_Readable, sort_keys=False, width=width, allow_unicode=True
    )
    return text


def readable_documents(documents: Iterable[object]) -> str:
    """Several documents in one file."""
    return "---\n".join(map(readable_yaml, documents))


class _Readable(yaml.SafeDumper):
    """Texts of several lines are blocks, and no part is an alias of another one."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Readable.add_representer(str, _text)
