"""Who may take whose Lease back: what the kernel proves, and what it doesn't."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from growth.kube.election import Identity, identity, this_run
from tests.children import child
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEASE = "growth/test-of-identity"
PROGRAM = """
import sys
from growth.kube.election.identity import this_run
with this_run(sys.argv[1], lease=sys.argv[2]) as who:
    print(who.text, flush=True)
    sys.stdin.read()
"""


@contextmanager
def started(name: str, lease: str = LEASE) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-c", PROGRAM, name, lease]
    pipe = subprocess.PIPE
    with child(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_two_runs_never_share_an_identity() -> None:
    with this_run("one", lease=LEASE) as who, this_run("two", lease=LEASE) as other:
        assert who.text != other.text


def test_a_run_that_was_killed_is_succeeded_by_the_next_of_its_name() -> None:
    with started("killed") as (process, holder):
        killed(process)
    with this_run("killed", lease=LEASE) as who:
        assert who.text != holder
        assert who.may_take_back(holder)
        assert who.may_take_back(who.text)


def test_a_run_that_lives_is_succeeded_by_nobody() -> None:
    with started("alive") as (_, holder), this_run("alive", lease=LEASE) as copy:
        assert copy.place is None
        assert not copy.may_take_back(holder)


def test_the_copy_of_a_run_proves_nothing_when_it_outlives_the_first() -> None:
    """It never owned the place, so the next owner can't know that it is dead."""
    with started("copied") as (first, _), started("copied") as (_, holder):
        killed(first)
        with this_run("copied", lease=LEASE) as successor:
            assert successor.place is not None
            assert not successor.may_take_back(holder)


@pytest.mark.parametrize(("name", "lease"), [("other", LEASE), ("same", "growth/another-lease")])
def test_another_name_or_another_lease_is_another_place(name: str, lease: str) -> None:
    with started("same") as (process, holder):
        killed(process)
    with this_run(name, lease=lease) as who:
        assert not who.may_take_back(holder)


def test_a_system_that_can_prove_nothing_gives_no_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(identity, "BOOT", tmp_path / "missing")
    with this_run("anywhere", lease=LEASE) as who:
        assert who.place is None
        assert not who.may_take_back("anywhere_here_run1")


def test_a_place_is_free_again_after_the_block() -> None:
    with this_run("again", lease=LEASE) as first:
        pass
    with this_run("again", lease=LEASE) as second:
        assert second.may_take_back(first.text)


def test_an_identity_reads_as_its_parts() -> None:
    assert Identity("reconciler-0", "r", "p").text == "reconciler-0_p_r"
    assert Identity("reconciler-0", "r").text == "reconciler-0_r"


@pytest.mark.parametrize("name", ["", "-a", "a b", "a\nb", "a" * 200])
def test_a_name_that_no_lease_should_bear_is_refused(name: str) -> None:
    with (
        pytest.raises(Misconfigured, match="must be letters, digits"),
        this_run(name, lease=LEASE),
    ):
        pass
