"""The built wheel, in a clean environment, from another folder."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"growth", "extender", "webhooks", "reconciler", "certs", "fleet", "sizing"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run([sys.executable, *build], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def uv() -> str:
    beside = Path(sys.prefix) / ".uv" / "bin"
    found = shutil.which("uv", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    assert found, "make setup puts uv beside the environment"
    return found


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top_level = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert top_level == PACKAGES


@pytest.mark.timeout(180)
def test_the_wheel_works_in_a_clean_environment_from_another_folder(
    wheel: Path, uv: str, tmp_path: Path
) -> None:
    environment = tmp_path / "clean"
    python = environment / "bin" / "python"
    runtime = ROOT / "requirements" / "servers.txt"

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(uv, "venv", "--python", sys.executable, environment)
    install = (uv, "pip", "install", "--python", python, "--quiet")
    run(*install, "--require-hashes", "--requirement", runtime)
    run(*install, "--no-deps", wheel)
    run(python, Path(__file__).with_name("smoke.py"), ROOT)


def test_no_other_installed_distribution_owns_our_packages() -> None:
    owners = importlib.metadata.packages_distributions()
    for package in PACKAGES:
        assert set(owners.get(package, ["growth-autoscaler"])) == {"growth-autoscaler"}
