"""What an installed growth must be able to do; runs on nothing but the installed wheel.

    python smoke.py FOLDER_OF_THE_SOURCES

It is started by another Python in another folder, so it uses the standard library alone and fails
with one line.
"""

import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path

DISTRIBUTION = "growth-autoscaler"
PACKAGES = ("growth", "extender", "webhooks", "reconciler", "certs", "fleet", "sizing")
COMMANDS = (
    "growth",
    "kubectl-growth",
    "growth-extender",
    "growth-webhooks",
    "growth-certs",
    "growth-reconciler",
    "growth-fleet",
    "growth-sizing",
)


def main() -> None:
    sources = Path(sys.argv[1]).resolve()
    distribution = importlib.metadata.distribution(DISTRIBUTION)
    files = {
        Path(str(distribution.locate_file(file))).resolve() for file in distribution.files or ()
    }
    for package in PACKAGES:
        check_package(package, files=files, sources=sources)
    check_nothing_shared(files)
    for command in COMMANDS:
        spoken = run(command, "--help")
        expect(
            command.replace("kubectl-", "kubectl ") in spoken,
            f"{command} --help doesn't name itself",
        )
    expect(distribution.version in run("growth", "version"), "growth version tells another version")
    expect(
        run("growth", "crds").count("kind: CustomResourceDefinition") == 6,
        "growth crds doesn't print six definitions",
    )


def check_package(package: str, *, files: set[Path], sources: Path) -> None:
    origin = Path(importlib.import_module(package).__file__ or "").resolve()
    expect(origin in files, f"{package} is imported from {origin}, which isn't ours")
    expect(sources not in origin.parents, f"{package} is imported from the sources")
    expect(origin.with_name("py.typed") in files, f"{package} has lost its py.typed")


def check_nothing_shared(files: set[Path]) -> None:
    for other in importlib.metadata.distributions():
        if other.metadata["Name"] == DISTRIBUTION:
            continue
        theirs = {Path(str(other.locate_file(file))).resolve() for file in other.files or ()}
        expect(not files & theirs, f"{other.metadata['Name']} owns a file of ours")


def run(*command: str) -> str:
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def expect(holds: bool, complaint: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        sys.exit(complaint)


if __name__ == "__main__":
    main()
