"""The processes that belong to a folder, and how to end them.

kwokctl's programs outlive it, and it records their numbers in files. But a killed `up` may leave a
program without a record, and a recorded number may belong to another process by now. So the kernel
is asked instead: a process belongs to a folder if it is one of our programs, of our user, and works
in the folder. A handle is taken before the final check, so the process that is ended is the one
that was checked.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import GiveUp
from kwok.waiting import Patience

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PROC: Final = Path("/proc")


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A running process: its number and the name with which it was started."""

    pid: int
    name: str


def processes_in(folder: Path, names: Collection[str]) -> list[StartedProcess]:
    """Our processes with these names that work in the folder."""
    found = (_process(int(each.name), folder) for each in PROC.iterdir() if each.name.isdigit())
    return [process for process in found if process is not None and process.name in names]


def works_in(pid: int, folder: Path) -> bool:
    """Whether a process is alive, ours, and works in the folder; its name doesn't matter.

    A program that has just started has no name yet: the kernel reports that it is running before it
    has stored its command line.
    """
    return _command_line(pid, folder) is not None


def end_processes(folder: Path, names: Collection[str], *, within: float = 60.0) -> int:
    """Kill them until none is left; one that starts another is found in the next round."""
    ended = 0
    patience = Patience(within)
    while processes := processes_in(folder, names):
        if patience.is_over():
            left = f"process {processes[0].pid} ({processes[0].name}) in {folder}"
            raise GiveUp(f"{left} was killed {within:.0f} s ago but is still running")
        # Processes that start others are killed first, so that no new ones appear.
        for process in sorted(processes, key=lambda each: each.name not in {"kwokctl", "go"}):
            ended += _end(process, folder)
    return ended


def _end(process: StartedProcess, folder: Path) -> int:
    with contextlib.suppress(ProcessLookupError), _handle(process.pid) as handle:
        if _process(process.pid, folder) != process:
            return 0
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        waiting.poll(2000)
        return 1
    return 0


@contextlib.contextmanager
def _handle(pid: int) -> Iterator[int]:
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _process(pid: int, folder: Path) -> StartedProcess | None:
    """The process with the name with which it was started, if it works in the folder."""
    command = _command_line(pid, folder)
    if command is None:
        return None
    return StartedProcess(pid, Path(os.fsdecode(command.split(b"\0", 1)[0])).name)


def _command_line(pid: int, folder: Path) -> bytes | None:
    """The command line of a process, if it is alive, ours, and works in the folder."""
    entry = PROC / str(pid)
    try:
        if entry.stat().st_uid != os.getuid():
            return None
        # A removed folder is shown with a suffix; the processes in it are still ours.
        place = os.readlink(entry / "cwd").removesuffix(" (deleted)")  # noqa: PTH115 - text, for its suffix
        command = (entry / "cmdline").read_bytes()
    except OSError:
        return None
    # The kernel reports real paths; ours may contain links.
    return command if Path(place).is_relative_to(folder.resolve()) else None
