"""Programs that are run for their output, each with a time limit."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from growth.errors import GiveUp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class NoAnswer(GiveUp):
    """The time limit was reached; the program has been ended."""


def answer_of(
    command: Sequence[str | Path],
    *,
    within: float,
    given: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """What a program prints and how it ends, within a number of seconds."""
    try:
        return subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=within,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"timed out after {within:.0f} s waiting for {command[0]}") from None
