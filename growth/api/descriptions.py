"""The text below a field is its description, in the schema and in the reference.

Pydantic could collect these texts itself (`use_attribute_docstrings`), but does so whenever a
process starts, which took a third of the import time. Here they are read when a schema is
generated.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from pydantic import BaseModel


@cache
def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Name of the field in Python -> description, including inherited ones."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if getattr(base, "model_fields", None):
            found |= _in_module(base.__module__).get(base.__name__, {})
    return {name: text for name, text in found.items() if name in model.model_fields}


@cache
def _in_module(module: str) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {node.name: _in_block(node.body) for node in classes}


def constants(module: ModuleType) -> dict[str, str]:
    """Name of each constant of a module -> the text below it."""
    return _in_block(ast.parse(inspect.getsource(module)).body)


def _in_block(body: list[ast.stmt]) -> dict[str, str]:
    return {
        field.target.id: one_line(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(text.value.value, str)
    }


def one_line(text: str) -> str:
    """A docstring without line breaks."""
    return " ".join(text.split())
