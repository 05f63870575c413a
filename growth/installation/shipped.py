"""Where the manifests are: in the package once it is installed, else beside it in the sources."""

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
    """The folder of manifests."""
    package = Path(growth.__file__).parent
    within = package / "manifests"
    return within if within.is_dir() else package.parent / "manifests"


def shipped_objects(path: Path) -> Iterator[Object]:
    """The objects of one file, in their order; new ones each time, as values are put into them."""
    yield from copy.deepcopy(_parsed(path))


@cache
def _parsed(path: Path) -> list[Object]:
    """What is shipped doesn't change, and YAML takes its time."""
    documents = yaml.safe_load_all(path.read_text("utf-8"))
    return [document for document in documents if document is not None]
