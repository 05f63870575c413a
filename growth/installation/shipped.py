"""Finds the manifests: in the installed package, or next to it in the source tree."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

import growth

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]
"""A Kubernetes object as plain data."""


def manifests() -> Path:
    """The folder with the manifests."""
    package = Path(growth.__file__).parent
    within = package / "manifests"
    return within if within.is_dir() else package.parent / "manifests"


def shipped_objects(path: Path) -> Iterator[Object]:
    """The objects of a file, in their order; new ones each time, because callers change them."""
    yield from copy.deepcopy(_parsed(path))


@cache
def _parsed(path: Path) -> list[Object]:
    """The objects of a file; cached, because parsing YAML is slow."""
    documents = yaml.safe_load_all(path.read_text("utf-8"))
    return [document for document in documents if document is not None]
