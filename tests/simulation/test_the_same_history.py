"""One seed, one history: in every process, for every hash seed, on every Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = "import pydantic, msgspec, structlog, aiohttp, prometheus_client"
WORDS = ("-m", "reconciler.simulation", "--seed", "3", "--minutes", "10", "-o", "json")
OTHERS = ("python3.11", "python3.12", "python3.13", "python3.14")


def told_by(python: str, *, hash_seed: str) -> Any:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    ran = subprocess.run(
        [python, *WORDS], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


def test_two_processes_with_different_hash_seeds_tell_the_same() -> None:
    one, other = (told_by(sys.executable, hash_seed=seed) for seed in ("1", "2"))
    assert one["hash"] == other["hash"]
    assert one["events"] == other["events"] > 0


@pytest.mark.parametrize("name", OTHERS)
def test_every_python_tells_the_same(name: str) -> None:
    python = shutil.which(name)
    if python is None:
        pytest.skip(f"there is no {name} here")
    if subprocess.run([python, "-c", NEEDED], capture_output=True, check=False).returncode:
        pytest.skip(f"{name} lacks the packages that growth needs")
    here = told_by(sys.executable, hash_seed="1")
    assert told_by(python, hash_seed="2")["hash"] == here["hash"]
