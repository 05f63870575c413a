"""`make crds` writes what lies in the repository already, and writes all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from generators.__main__ import GENERATED, main
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    main(folder)
    return folder


def files(root: Path, folder: str) -> dict[str, str]:
    paths = (path for path in (root / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in paths}


@pytest.mark.parametrize("folder", GENERATED)
def test_what_is_generated_is_what_lies_there(folder: str, written: Path) -> None:
    made = files(written, folder)

    assert made
    assert {name: (ROOT / name).read_text("utf-8") for name in made} == made, "run make crds"


@pytest.mark.parametrize("folder", ["manifests/crds", "manifests/charts"])
def test_nothing_else_lies_in_a_folder_that_is_generated(folder: str, written: Path) -> None:
    assert files(ROOT, folder).keys() == files(written, folder).keys()
