"""`python -m reconciler.simulation`: runs one or many seeds, and prints results and replays."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from growth.cli.terminal.output import add_output_argument
from reconciler.simulation.faults import SimulatedFault, drawn
from reconciler.simulation.run import RunOutcome, run_story
from reconciler.simulation.shrink import shrunk
from reconciler.simulation.story import WORKLOADS, Story

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.simulation.process import Parts


def main(
    words: Sequence[str] | None = None,
    *,
    parts: Parts | None = None,
    clock: Callable[[], float] = time.time,
) -> int:
    """Run the chosen seeds with these parts of the process; returns 1 if there was a breach."""
    parser = _parser()
    arguments = parser.parse_args(words)
    seeds = arguments.seeds
    if arguments.first is not None:
        if seeds is None or seeds.first is not None:
            parser.error("--first is the first of a number of seeds: say how many, as --seeds 300")
        seeds = _Seeds(seeds.number, arguments.first)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    if seeds is None:
        return int(_is_breached(arguments.seed, arguments, parts))
    breaches = sum(_is_breached(seed, arguments, parts) for seed in _chosen(seeds, clock))
    _print_total(seeds.number, breaches, arguments)
    return 1 if breaches else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reconciler.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, default=1, help="the seed (default 1)")
    which.add_argument(
        "--seeds", type=_seeds, help="so many seeds, or all seeds from A to B as A..B"
    )
    parser.add_argument(
        "--first", type=int, help="the first of so many seeds (drawn from the clock, and printed)"
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="virtual ones (default 60)")
    parser.add_argument(
        "--faults", type=_faults, help="these kinds and no others, by comma; `none`; `all`"
    )
    parser.add_argument("--workloads", type=int, default=WORKLOADS, help="only the first N")
    parser.add_argument("--trace", type=Path, help="write what happened to this file")
    parser.add_argument("--shrink", action="store_true", help="make a failing story small")
    add_output_argument(parser)
    return parser


class _Seeds(NamedTuple):
    """Consecutive seeds; without a first one, it is taken from the clock."""

    number: int
    first: int | None = None


def _seeds(written: str) -> _Seeds:
    first, dots, last = written.partition("..")
    try:
        found = _Seeds(int(last) - int(first) + 1, int(first)) if dots else _Seeds(int(first))
    except ValueError:
        found = _Seeds(0)
    if found.number < 1:
        wanted = "write how many, as 300, or a range, as 1..20"
        raise argparse.ArgumentTypeError(f"{written}: {wanted}")
    return found


def _chosen(seeds: _Seeds, clock: Callable[[], float]) -> range:
    first = seeds.first
    if first is None:
        first = int(clock())
        print(f"drawn from the clock; again with --first {first}", file=sys.stderr)
    return range(first, first + seeds.number)


def _print_total(seeds: int, breaches: int, arguments: argparse.Namespace) -> None:
    if arguments.output == "json":
        print(json.dumps({"seeds": seeds, "breaches": breaches}))
    else:
        print(f"{seeds} seeds, {breaches} breaches")


def _faults(written: str) -> tuple[SimulatedFault, ...]:
    if written == "none":
        return ()
    names = [fault.value for fault in SimulatedFault] if written == "all" else written.split(",")
    try:
        return tuple(SimulatedFault(name) for name in names)
    except ValueError as error:
        known = ", ".join(SimulatedFault)
        raise argparse.ArgumentTypeError(f"{error}; there are: {known}") from None


def _is_breached(seed: int, arguments: argparse.Namespace, parts: Parts | None) -> bool:
    """Run a seed and print the result; returns whether there was a breach."""
    faults = drawn(seed) if arguments.faults is None else arguments.faults
    story = Story(
        seed=seed, minutes=arguments.minutes, faults=faults, workloads=arguments.workloads
    )
    outcome = run_story(story, parts=parts, keep=None if arguments.trace else 40)
    if outcome.breaches and arguments.shrink:
        story = shrunk(story, lambda smaller: bool(run_story(smaller, parts=parts).breaches))
        outcome = run_story(story, parts=parts, keep=None if arguments.trace else 40)
    if arguments.trace:
        arguments.trace.write_text("\n".join(outcome.lines) + "\n")
    told = json.dumps(_document(outcome)) if arguments.output == "json" else _text(outcome)
    # Flushed, because many seeds take hours and people watch the output.
    print(told, flush=True)
    return bool(outcome.breaches)


def _document(outcome: RunOutcome) -> dict[str, Any]:
    document = {
        "seed": outcome.story.seed,
        "minutes": outcome.story.minutes,
        "faults": list(outcome.story.faults),
        "events": outcome.events,
        "effects": outcome.effects,
        "machines": outcome.bought,
        "breaches": len(outcome.breaches),
        "hash": outcome.hash,
        "secondsPerSecond": round(outcome.seconds_per_second),
    }
    for breach in outcome.breaches:
        document |= {"breach": breach._asdict(), "replay": outcome.story.command}
    return document


def _text(outcome: RunOutcome) -> str:
    story = outcome.story
    lines = [
        "  ".join(
            [
                f"seed {story.seed}",
                f"{story.minutes:g} min",
                f"events {outcome.events}",
                f"effects {outcome.effects}",
                f"machines {outcome.bought}",
                f"breaches {len(outcome.breaches)}",
                f"hash {outcome.hash}",
                f"secondsPerSecond {outcome.seconds_per_second:.0f}",
            ]
        )
    ]
    if outcome.breaches:
        lines += [f"  {each.at:12.3f}  {each.rule}: {each.text}" for each in outcome.breaches]
        lines.append(f"replay: {story.command}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
