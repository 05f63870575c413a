"""Mistakes on the command line: one line that says what and how to mend it, exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.live import run_kwok

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("up", "--name", "../evil"), '--name "../evil" isn\'t a valid cluster name'),
        (("up", "--name", "Big"), "use 1 to 40 lower-case letters, digits and dashes"),
        (("up", "--name", ""), "isn't a valid cluster name"),
        (("down", "--name", "a" * 41), "isn't a valid cluster name"),
        (("up", "--name", "x", "--kube-version", "latest"), '--kube-version "latest"'),
        (("up", "--name", "x", "--scheduler-config", "/nowhere"), "can't be read: No such file"),
        (("up", "--name", "x", "--programs", "/nowhere"), "fix --programs"),
        (("programs", "--programs", "/nowhere"), "fix --programs"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], complaint: str) -> None:
    answer = run_kwok(*arguments)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert complaint in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("kind: [", "isn't YAML"),
        ("kind: Pod\n", "isn't a scheduler configuration"),
        ("- a\n", "isn't a scheduler configuration"),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
            "it must begin with apiVersion: kubescheduler.config.k8s.io/v1",
        ),
    ],
)
def test_a_wrong_scheduler_configuration_is_named(
    content: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(content)
    answer = run_kwok("up", "--name", "x", "--scheduler-config", str(file))
    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert str(file) in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_ending_what_is_not_there_is_no_mistake() -> None:
    answer = run_kwok("down", "--name", "never-was")
    assert answer.returncode == 0
    assert answer.stderr == 'there is no cluster "never-was"\n'
