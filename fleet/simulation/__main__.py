"""`python -m fleet.simulation`: tells stories of a fleet, one for each seed, and their breaches."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from typing import TYPE_CHECKING

import structlog

from fleet.simulation.story import FleetTale

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Tell the chosen stories; returns 1 if there was a breach."""
    arguments = _parser().parse_args(words)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    first = int(time.time()) if arguments.first is None else arguments.first
    breaches = sum(_told(seed, arguments) for seed in range(first, first + arguments.seeds))
    print(f"{arguments.seeds} seeds from {first}: {breaches} breaches")
    return 1 if breaches else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fleet.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many stories (default 1)")
    parser.add_argument("--first", type=int, help="the first seed (default: from the clock)")
    parser.add_argument("--days", type=float, default=2.0, help="virtual ones (default 2)")
    parser.add_argument("--regions", type=int, default=3, help="how many (default 3)")
    return parser


def _told(seed: int, arguments: argparse.Namespace) -> int:
    story = FleetTale(seed, days=arguments.days, regions=arguments.regions).told()
    print(story.text)
    for breach in story.breaches:
        print(f"  {breach}")
    return len(story.breaches)


if __name__ == "__main__":
    sys.exit(main())
