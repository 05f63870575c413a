"""`python -m reconciler.simulation`: one seed or many, what came of them, how to see it again."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from growth.cli.output import add_output_argument
from reconciler.simulation.faults import Fault, drawn
from reconciler.simulation.run import Outcome, run
from reconciler.simulation.shrink import shrunk
from reconciler.simulation.story import WORKLOADS, Story

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.simulation.process import Parts


def main(words: Sequence[str] | None = None, *, parts: Parts | None = None) -> int:
    """Run what was asked for, of a process with these parts; 1 if anything was breached."""
    arguments = _parser().parse_args(words)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    outcomes = [_told(seed, arguments, parts) for seed in arguments.seeds or (arguments.seed,)]
    return 1 if any(outcome.breaches for outcome in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reconciler.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, default=1, help="the seed (default 1)")
    which.add_argument("--seeds", type=_range, help="all seeds from A to B, as A..B")
    parser.add_argument("--minutes", type=float, default=60.0, help="virtual ones (default 60)")
    parser.add_argument(
        "--faults", type=_faults, help="these kinds and no others, by comma; `none`; `all`"
    )
    parser.add_argument("--workloads", type=int, default=WORKLOADS, help="only the first N")
    parser.add_argument("--trace", type=Path, help="write what happened to this file")
    parser.add_argument("--shrink", action="store_true", help="make a failing story small")
    add_output_argument(parser)
    return parser


def _range(written: str) -> range:
    first, _, last = written.partition("..")
    try:
        return range(int(first), int(last) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written}: write a range as 1..20") from None


def _faults(written: str) -> tuple[Fault, ...]:
    if written == "none":
        return ()
    names = [fault.value for fault in Fault] if written == "all" else written.split(",")
    try:
        return tuple(Fault(name) for name in names)
    except ValueError as error:
        known = ", ".join(Fault)
        raise argparse.ArgumentTypeError(f"{error}; there are: {known}") from None


def _told(seed: int, arguments: argparse.Namespace, parts: Parts | None) -> Outcome:
    faults = drawn(seed) if arguments.faults is None else arguments.faults
    story = Story(
        seed=seed, minutes=arguments.minutes, faults=faults, workloads=arguments.workloads
    )
    outcome = run(story, parts=parts, keep=None if arguments.trace else 40)
    if outcome.breaches and arguments.shrink:
        story = shrunk(story, lambda smaller: bool(run(smaller, parts=parts).breaches))
        outcome = run(story, parts=parts, keep=None if arguments.trace else 40)
    if arguments.trace:
        arguments.trace.write_text("\n".join(outcome.lines) + "\n")
    print(json.dumps(_document(outcome)) if arguments.output == "json" else _text(outcome))
    return outcome


def _document(outcome: Outcome) -> dict[str, Any]:
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


def _text(outcome: Outcome) -> str:
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
