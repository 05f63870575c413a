"""The worker process that solves: a question after the other comes in, a plan each goes out.

It is a process of its own so that the loop never waits for it, and so that a question that eats all
memory, or an engine that crashes, ends nothing but itself. Questions and plans are pickled: both
ends are the same program, and the pipe between them is private.

    python -m reconciler.solver BYTES      (so much memory it may have)
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from reconciler.solver.answering import solve_within
from reconciler.solver.model.framing import LENGTH

if TYPE_CHECKING:
    from reconciler.solver.model.plan import Plan
    from reconciler.solver.model.problem import Effort, Problem
    from reconciler.solver.model.renewal import Renewal, Renewed


ANSWERS = 1
"""The descriptor on which plans go out."""


def main() -> None:
    """Answer until the other end is closed."""
    _stay_small(int(sys.argv[1]))
    try:
        _answer()
    except MemoryError:
        sys.exit("the solver ran out of memory")
    except BrokenPipeError:
        # Whoever asked has died. What is left of the answer is for nobody, at the end neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), ANSWERS)


def _stay_small(most: int) -> None:
    """Take no more than so many bytes, and be the first to go when nobody can have any."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # Only Linux has it, and only its worth among others matters: everybody may raise his own.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _answer() -> None:
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    # What is printed by accident must not end up between two answers.
    sys.stdout = sys.stderr
    while (question := _read(questions)) is not None:
        problem, effort, seconds = question
        plan = solve_within(problem, effort, seconds=seconds)
        _write(answers, plan)


def _read(stream: BinaryIO) -> tuple[Problem | Renewal, Effort, float] | None:
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        return None
    question: tuple[Problem | Renewal, Effort, float] = pickle.loads(body)  # noqa: S301 - our own parent's words
    return question


def _write(stream: BinaryIO, plan: Plan | Renewed) -> None:
    answer = pickle.dumps((plan, _most_memory()))
    stream.write(LENGTH.pack(len(answer)) + answer)
    stream.flush()


def _most_memory() -> int:
    """Bytes that this process had at most; `ru_maxrss` would count those of its parent, too."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


if __name__ == "__main__":
    main()
