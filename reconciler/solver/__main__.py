"""The solver's worker process: it reads questions from a pipe and writes a plan for each.

It is a separate process so that the loop never waits for it, and so that a question that needs too
much memory, or an engine that crashes, ends only this process. Questions and plans are pickled:
both ends are the same program, and the pipe between them is private.

    python -m reconciler.solver BYTES      (the most memory that it may use)
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
"""The file descriptor that plans are written to."""


def main() -> None:
    """Answer questions until the pipe is closed."""
    _stay_small(int(sys.argv[1]))
    try:
        _answer()
    except MemoryError:
        sys.exit("the solver ran out of memory")
    except BrokenPipeError:
        # The parent has exited. Python flushes stdout once more on exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), ANSWERS)


def _stay_small(most: int) -> None:
    """Limit this process's memory, and make it the kernel's first choice when memory runs out."""
    # Without a limit the worker grows until the kernel ends a process of its choice, which may be
    # the reconciler that leads.
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # The file exists on Linux only. A process may always raise its own score.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _answer() -> None:
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    # A library that prints something must not write it between two answers.
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
    """The peak memory of this process in bytes; `ru_maxrss` would include that of its parent."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


if __name__ == "__main__":
    main()
