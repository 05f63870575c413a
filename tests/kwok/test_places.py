from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from kwok import places
from kwok.places import cache_folder, clusters_folder, clusters_folders

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine with a memory file system, a runtime folder and a home, all in a small place."""
    monkeypatch.setattr(places, "SHARED_MEMORY", tmp_path / "memory")
    monkeypatch.setattr(places, "ROOM_FOR_CLUSTERS", 1)
    for name in ("memory", "runtime", "home"):
        (tmp_path / name).mkdir()
    return {"XDG_RUNTIME_DIR": str(tmp_path / "runtime"), "HOME": str(tmp_path / "home")}


def test_clusters_lie_in_memory_and_are_private(
    environment: dict[str, str], tmp_path: Path
) -> None:
    folder = clusters_folder(environment)
    assert folder.parent == tmp_path / "memory"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_shared_memory_they_lie_in_the_runtime_folder(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "memory").rmdir()
    (tmp_path / "memory").touch()
    assert clusters_folder(environment) == tmp_path / "runtime" / "growth"


def test_without_any_memory_they_lie_in_the_cache(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "memory").rmdir()
    (tmp_path / "memory").touch()
    assert clusters_folder({"HOME": environment["HOME"]}) == (
        tmp_path / "home" / ".cache" / "growth" / "clusters"
    )


def test_a_memory_file_system_that_is_too_small_is_passed_by(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ROOM_FOR_CLUSTERS", 1 << 60)
    assert clusters_folder(environment).parts[-2:] == ("growth", "clusters")


def test_a_folder_that_others_can_open_is_not_used(
    environment: dict[str, str], tmp_path: Path
) -> None:
    clusters_folder(environment).chmod(0o755)
    assert clusters_folder(environment) == tmp_path / "runtime" / "growth"


def test_a_link_that_someone_has_put_there_is_not_followed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ours = next(clusters_folders(environment))
    (tmp_path / "home").chmod(0o700)
    ours.symlink_to(tmp_path / "home")
    assert clusters_folder(environment) == tmp_path / "runtime" / "growth"


def test_relative_folders_of_the_environment_are_ignored(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": "cache", "HOME": str(tmp_path)}
    assert cache_folder(environment) == tmp_path / ".cache" / "growth"


def test_a_cache_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="set another one in XDG_CACHE_HOME"):
        cache_folder({"XDG_CACHE_HOME": str(tmp_path / "file")})
