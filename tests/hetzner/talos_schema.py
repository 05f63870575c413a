"""The published schemas of Talos' machine configuration, one for each of two forms.

    python -m tests.hetzner.talos_schema

fetches them once into the cache: they are files in the Go module with which `talosctl` reads
configurations. Where they can't be fetched, it says why, and the tests that need one say so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

from growth.errors import GiveUp, GrowthError
from kwok.places import cache_folder
from kwok.progress import Progress
from kwok.toolchain import find_go
from kwok.versions import go_version

MODULE: Final = "github.com/siderolabs/talos/pkg/machinery"
SCHEMA: Final = "config/schemas/config.schema.json"
BEFORE_HOSTNAME_CONFIG: Final = "v1.11.3"
WITH_HOSTNAME_CONFIG: Final = "v1.13.0"
SUMS: Final = {
    BEFORE_HOSTNAME_CONFIG: "h1:rFjwS1mqn3HtkbBP+GxZ7GKSW8J1jj28JuRTE0eERF0=",
    WITH_HOSTNAME_CONFIG: "h1:nNfAUqgD/yOb4RZAc3xrQXKYllIK36RPaJacNQQC3TI=",
}
"""Of the modules, as in a go.sum."""
_WITHIN: Final = 60.0


def schema_of(version: str) -> dict[str, Any]:
    """The schema, or the end of the test that needs it."""
    kept = kept_schema(version)
    if not kept.exists():
        reason = "isn't there: python -m tests.hetzner.talos_schema fetches it"
        pytest.skip(f"the schema of Talos {version} {reason}")
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found


def kept_schema(version: str) -> Path:
    """Its place in the cache."""
    return cache_folder() / "talos" / f"{version}.json"


def fetch(version: str) -> None:
    """Have Go fetch the module, and keep the one file."""
    go = find_go(oldest=go_version(), cache=cache_folder(), progress=Progress())
    kept = kept_schema(version)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        command = [str(go.program), "mod", "download", "-json", f"{MODULE}@{version}"]
        # In a folder without a go.mod, so that nothing else is asked for.
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **go.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=_WITHIN,
        )
        found = json.loads(done.stdout or "{}")
        if found.get("Sum") != SUMS[version]:
            raise GiveUp(found.get("Error") or f"{MODULE}@{version} has another sum than pinned")
        draft = Path(folder) / "schema.json"
        shutil.copyfile(Path(found["Dir"]) / SCHEMA, draft)
        draft.replace(kept)


def main() -> int:
    """Fetch what is missing, or say why it can't be had."""
    missing = [version for version in SUMS if not kept_schema(version).exists()]
    try:
        for version in missing:
            fetch(version)
    except (GrowthError, OSError, ValueError, subprocess.SubprocessError) as failure:
        # Tests go on without it, so this is no failure; the second one would take as long.
        print(f"the schemas of Talos can't be fetched: {failure}", flush=True)  # noqa: T201 - for people
    return 0


if __name__ == "__main__":
    sys.exit(main())
