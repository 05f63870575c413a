"""helm, promtool and Prometheus: on PATH, named by a variable, or built as go.mod pins them.

    python -m tests.manifests.programs [NAME...]

builds what is missing into the cache, as `python -m kwok programs` does for a control plane. It
takes some minutes once; where it can't be done the tests that need a program say so by its name.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from growth.errors import Misconfigured
from kwok.locks import locked
from kwok.places import cache_folder
from kwok.progress import Progress
from kwok.toolchain import find_go
from kwok.versions import go_version

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULE: Final = Path(__file__).with_name("checks")
PACKAGES: Final = {
    "helm": "helm.sh/helm/v3/cmd/helm",
    "prometheus": "github.com/prometheus/prometheus/cmd/prometheus",
    "promtool": "github.com/prometheus/prometheus/cmd/promtool",
}
_MADE_WITHIN: Final = 3600.0


def program(name: str) -> Path:
    """A program, or the end of the test that needs it."""
    found = find(name)
    if found is None:
        pytest.skip(f"{name} isn't there: python -m tests.manifests.programs builds it")
    return found


def find(name: str) -> Path | None:
    """Where it is, from the nearest place to the farthest."""
    given = os.environ.get(f"GROWTH_{name.upper()}") or shutil.which(name)
    if given:
        return Path(given)
    kept = kept_at(name)
    return kept if kept.exists() else None


def kept_at(name: str) -> Path:
    """Its place in the cache, another one for another version."""
    module = PACKAGES[name].partition("/cmd/")[0]
    pinned = (MODULE / "go.mod").read_text("utf-8")
    [version] = re.findall(rf"(?m)^\s*(?:require )?{re.escape(module)} (v\S+)", pinned)
    return cache_folder() / "programs" / f"{name}-{version}"


def build(name: str) -> None:
    """From its sources, in a folder of its own: the repository may be read-only.

    One process at a time builds, and the next one finds what it has made.
    """
    with locked(cache_folder() / "checks.lock", waiting=lambda: None, within=_MADE_WITHIN):
        if not kept_at(name).exists():
            _build(name, cache_folder())


def _build(name: str, cache: Path) -> None:
    go = find_go(oldest=go_version(), cache=cache, progress=Progress())
    workshop = cache / "checks"
    shutil.copytree(MODULE, workshop, dirs_exist_ok=True)
    made = workshop / name
    command = [str(go.program), "build", "-trimpath", "-o", str(made), PACKAGES[name]]
    environment = {**os.environ, **go.environment}
    subprocess.run(command, cwd=workshop, env=environment, check=True, capture_output=True)
    kept_at(name).parent.mkdir(parents=True, exist_ok=True)
    made.replace(kept_at(name))


def main(names: Sequence[str]) -> int:
    """Build what is missing, and say where each is, or why it isn't."""
    for name in names or PACKAGES:
        print(f"{name}: {find(name) or _built(name)}", flush=True)  # noqa: T201 - for people
    return 0


def _built(name: str) -> str:
    print(f"building {name}; this takes some minutes once", flush=True)  # noqa: T201 - for people
    try:
        build(name)
    except Misconfigured as mistake:
        return f"can't be built here: {mistake}"
    except subprocess.CalledProcessError as failed:
        last = failed.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"can't be built here: {''.join(last)}"
    return str(find(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
