"""The images: what they are made of, and that everything they need is in the wheel."""

from __future__ import annotations

import re
import tomllib

import pytest

from growth.installation.places import NAMESPACE_PART, PARTS
from tests.live import ROOT
from tests.manifests.reading import pods

IMAGE = ROOT / "manifests" / "image"
LINES = [
    line
    for line in (IMAGE / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TARGETS = {"servers": "servers.txt", "reconciler": "reconciler.txt"}


def stages() -> dict[str, list[str]]:
    """Name of each stage -> its lines."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in LINES:
        begun = re.fullmatch(r"FROM (\S+) AS (\S+)", line)
        name = begun[2] if begun else name
        found.setdefault(name, []).append(line)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_holds_an_environment_and_no_tools(target: str) -> None:
    stage = stages()[target]

    assert stage[0] == f"FROM bare AS {target}"
    assert [line for line in stage if line.startswith("COPY")] == [
        f"COPY --from={target}-environment /growth /growth"
    ]
    assert not any(line.startswith("RUN") for line in stage)
    assert "RUN python -m venv --without-pip /growth" in stages()["servers-environment"]


def test_an_image_has_no_pip() -> None:
    assert stages()["bare"] == [
        "FROM base AS bare",
        "RUN pip uninstall --yes pip && rm -rf /usr/local/lib/python3.*/ensurepip",
    ]


def test_the_base_image_can_be_named_by_its_digest() -> None:
    [argument] = [line for line in LINES if line.startswith("ARG")]
    bases = [line.split()[1] for line in LINES if line.startswith("FROM")]

    assert argument.startswith("ARG PYTHON=")
    assert set(bases) <= {"${PYTHON}", *stages()}


@pytest.mark.parametrize("target", TARGETS)
def test_nobody_runs_as_root_and_the_pods_say_the_same(target: str) -> None:
    [user] = [line for line in stages()[target] if line.startswith("USER")]

    assert user == "USER 65532:65532"
    ours = [pod for _, pod in pods() if any(target in c["image"] for c in pod["containers"])]
    assert {pod["securityContext"]["runAsUser"] for pod in ours} == {65532}


@pytest.mark.parametrize("target", TARGETS)
def test_everything_comes_with_its_hash(target: str) -> None:
    stage = stages()[f"{target}-environment"]

    assert f"COPY requirements/{TARGETS[target]} /requirements.txt" in stage
    installs = [line for lines in stages().values() for line in lines if " install" in line]
    assert len(installs) == 4
    for command in [each for line in installs for each in re.findall(r" install[^&]*", line)]:
        assert "--require-hashes" in command or "--no-index" in command
    pinned = (ROOT / "requirements" / TARGETS[target]).read_text("utf-8")
    for entry in re.findall(r"(?m)^[a-z0-9-]+==(?:[^\n]*\\\n)+[^\n]*", pinned):
        assert "--hash=sha256:" in entry


def test_the_servers_have_no_optimiser() -> None:
    pinned = (ROOT / "requirements" / "servers.txt").read_text("utf-8")

    assert re.search(r"(?m)^(ortools|numpy|pandas|hcloud)==", pinned) is None


@pytest.mark.parametrize("name", dict(pods()))
def test_a_pod_starts_what_its_image_has(name: str) -> None:
    pod = dict(pods())[name]
    commands = [each["command"][0] for each in pod["containers"] if "growth" in each["image"]]

    assert commands
    assert set(commands) <= PROJECT["project"]["scripts"].keys()


def test_the_wheel_has_the_manifests_that_are_installed() -> None:
    taken = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert taken == {place: f"growth/{place}" for place in taken}
    folders = {part.file.partition("/")[0] for part in (NAMESPACE_PART, *PARTS)}
    assert {f"manifests/{folder}" for folder in folders} <= taken.keys()


def test_the_build_sees_what_it_copies_and_nothing_else() -> None:
    shown = {
        line.removeprefix("!")
        for line in (IMAGE / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    copied = {
        word.partition("/")[0]
        for line in LINES
        if line.startswith("COPY") and "--from" not in line
        for word in line.split()[1:-1]
    }

    assert copied == shown
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= copied
    assert all((ROOT / each).exists() for each in copied)
