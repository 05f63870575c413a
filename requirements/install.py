"""Make `.venv` from the pinned requirements; the only code that runs before anything is installed.

A machine needs python3 with either `venv` or `pip`, nothing else: no headers, no compiler, no uv.
uv is taken from PATH, else from the package index into `.venv/.uv` (its hash is pinned like every
other). uv then makes the environment itself, so a Python without `ensurepip` works too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
MINIMUM_PYTHON = (3, 11)


def main() -> int:
    """Install, and say in one line what is wrong where it can't be done."""
    parser = argparse.ArgumentParser(description="Make a virtual environment for growth.")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="where (default: .venv)")
    parser.add_argument(
        "--fuzzer", action="store_true", help="only atheris, beside an environment that is there"
    )
    arguments = parser.parse_args()
    target = arguments.venv.absolute()
    if sys.version_info < MINIMUM_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        return complain(
            f"Python {found} is too old; name a newer one: make setup PYTHON=python3.12"
        )
    if arguments.fuzzer:
        return install_fuzzer(target)
    try:
        install(target)
    except subprocess.CalledProcessError as failure:
        return complain(f"{failure.cmd[0]} ended with exit code {failure.returncode}; see above")
    return 0


def complain(text: str) -> int:
    """One line for a person, and the exit code of a mistake that a person can mend."""
    print(f"setup: {text}", file=sys.stderr)
    return 2


def install(target: Path) -> None:
    """Bring the environment to exactly what is pinned, and put the project itself into it."""
    uv = find_uv(target)
    python = target / "bin" / "python"
    if not python.exists():
        run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(target))
    pinned = REQUIREMENTS / "dev.txt"
    run(uv, "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(pinned))
    # hatchling and editables are among the pinned packages, so nothing unpinned is fetched here.
    run(uv, "pip", "install", "--quiet", "--python", str(python), "--no-deps",
        "--no-build-isolation", "--editable", str(ROOT))  # fmt: skip


def install_fuzzer(target: Path) -> int:
    """Put the fuzzer beside the environment; where there is no wheel of it, tests go without it."""
    kept, pinned = target / ".fuzzer", REQUIREMENTS / "fuzz.txt"
    if (kept / "atheris").exists():
        return 0
    try:
        run(find_uv(target), "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
            "--python", str(target / "bin" / "python"), "--require-hashes",
            "--target", str(kept), "--requirement", str(pinned))  # fmt: skip
    except subprocess.CalledProcessError:
        print(
            "setup: atheris can't be installed here (it needs CPython 3.11 to 3.14 on Linux and "
            "x86_64); make test-long goes without the fuzzer that it guides",
            file=sys.stderr,
        )
    return 0


def find_uv(target: Path) -> str:
    """The uv on PATH, or a pinned one that is kept beside the environment."""
    on_path = shutil.which("uv")
    if on_path:
        return on_path
    kept = target / ".uv"
    program = kept / "bin" / "uv"
    if not program.exists():
        fetch_uv(kept)
    return str(program)


def fetch_uv(kept: Path) -> None:
    """Install uv with whatever installer this Python has: pip, else venv's own pip."""
    pinned = str(REQUIREMENTS / "bootstrap.txt")
    arguments = ["install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    if has_pip(sys.executable):
        # --target works where the distribution forbids pip to touch the system's packages.
        run(sys.executable, "-m", "pip", *arguments, "--target", str(kept), "--requirement", pinned)
        return
    try:
        venv.create(kept, with_pip=True)
    except subprocess.CalledProcessError:
        raise SystemExit(
            complain("this Python has neither pip nor venv; install python3-venv or python3-pip")
        ) from None
    run(str(kept / "bin" / "python"), "-m", "pip", *arguments, "--requirement", pinned)


def has_pip(python: str) -> bool:
    """Whether `python -m pip` can be run."""
    probe = [python, "-m", "pip", "--version"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def run(*command: str) -> None:
    """Run one command, let it speak for itself, and fail when it fails."""
    environment = {**os.environ, "VIRTUAL_ENV": "", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run(command, check=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
