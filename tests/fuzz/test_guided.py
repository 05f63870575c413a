"""atheris finds no input that fails, in an hour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUZZER = ROOT / ".venv" / ".fuzzer"
"""Where `make test-long` puts it: only few platforms have it, so it isn't in the environment."""
SECONDS = float(os.environ.get("FUZZ_SECONDS", "1200"))
"""For each of three targets."""


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 600)
@pytest.mark.skipif(
    not (FUZZER / "atheris").exists(),
    reason="atheris isn't there: make test-long installs it for CPython 3.11 to 3.14 on Linux "
    "(x86_64)",
)
@pytest.mark.parametrize("target", ["bytes", "documents", "passes"])
def test_no_input_that_reaches_new_lines_fails(target: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", target, str(int(SECONDS)), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{FUZZER}"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [each.read_bytes().hex() for each in tmp_path.glob(f"found-{target}-*")]
    sys.stdout.write("\n".join(run.stderr.splitlines()[-40:]))
    assert run.returncode == 0, f"{found}\n{run.stdout[-4000:]}\n{run.stderr[-4000:]}"
