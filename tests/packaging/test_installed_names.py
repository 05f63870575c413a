"""The names of what is installed: the manifests have them all, and Python has each of them once."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from growth.api import installed
from tests.live import ROOT
from tests.packaging.test_words import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOME: Final = "growth/api/installed.py"
NAMES: Final = sorted(
    value
    for name, value in vars(installed).items()
    if name.isupper() and isinstance(value, str) and not name.endswith("_LABEL")
)


def alone(name: str) -> re.Pattern[str]:
    """A name where it isn't part of another one, of a file's name or of an image's."""
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.:-])")


def texts(tree: ast.AST) -> Iterator[str]:
    """All texts of a module but its docstrings."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in told and isinstance(node.value, str):
            yield node.value


def repeated(files: Iterable[str]) -> dict[str, list[str]]:
    found = {path: "\n".join(texts(ast.parse((ROOT / path).read_text("utf-8")))) for path in files}
    named = {
        path: [name for name in NAMES if alone(name).search(text)] for path, text in found.items()
    }
    return {path: names for path, names in named.items() if names}


def test_the_manifests_have_each_name() -> None:
    shipped = "\n".join(path.read_text("utf-8") for path in (ROOT / "manifests").rglob("*.yaml"))
    assert len(NAMES) > 10
    assert [name for name in NAMES if not alone(name).search(shipped)] == []


def test_no_other_module_spells_a_name_again() -> None:
    files = {
        str(path.relative_to(ROOT))
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
    }
    assert repeated(files - {HOME}) == {}, f"import it from {HOME}"
    assert set(repeated([HOME])[HOME]) >= {installed.NAMESPACE, installed.RECONCILER}
