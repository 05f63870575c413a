"""Durations as arguments of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.written import Duration
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse


def add_every_argument(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Declare `--every`, the time between updates of a view."""
    parser.add_argument(
        "--every",
        metavar="DURATION",
        default=default,
        help=f"time between updates (default: {default})",
    )


def seconds_of(written: str, flag: str) -> float:
    """A duration in seconds; zero is refused."""
    try:
        span = Duration.parse(written)
    except ValueError as mistake:
        raise Misconfigured(f'{flag}: "{written}" {mistake}') from None
    if not span.nanoseconds:
        raise Misconfigured(f"{flag}: must be longer than 0s, such as 1s")
    return span.seconds
