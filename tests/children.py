"""Processes that a test starts, which never outlive it.

`Popen` as a context manager only waits, so a test that fails before its process ends would hang.
"""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_Text = TypeVar("_Text", str, bytes)

PATIENCE: Final = 60.0
"""Seconds for a process to end in order, with its children."""


@contextmanager
def child(process: subprocess.Popen[_Text]) -> Iterator[subprocess.Popen[_Text]]:
    """The same; if it is still running at the end, it is asked to end and then killed."""
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def child_on_a_terminal(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process, and our end of its terminal."""
    ours, theirs = pty.openpty()
    try:
        try:
            process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
            )
        finally:
            os.close(theirs)
        with child(process):
            yield process, ours
    finally:
        os.close(ours)
