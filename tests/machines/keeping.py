"""A hall of servers, as the test sees it.

The keeper and the hall hold the other end of a pipe. When it closes, however this process ends,
all of it ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING, Any, Final

from growth.errors import GiveUp
from tests.live import ROOT
from tests.machines.keeper import name_of
from tests.machines.places import halls_folder, only_child

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NUMBERS: Final = itertools.count(1)
_NETWORK: Final = 0x40000000  # CLONE_NEWNET
_ENDS_WITHIN: Final = 30.0


class KeptHall:
    """The hall: requests to it, and sockets in its network."""

    def __init__(self, name: str, keeper: subprocess.Popen[str], log: IO[bytes]) -> None:
        self.name = name
        self.keeper = keeper
        self._log = log
        self._one_at_a_time = threading.Lock()

    @property
    def folder(self) -> Path:
        """The disks of its servers, by name."""
        return halls_folder() / self.name

    def ask(self, verb: str, **words: Any) -> Any:
        """Have the hall do something, and return its answer."""
        with self._one_at_a_time:
            assert self.keeper.stdin is not None
            self.keeper.stdin.write(json.dumps({"verb": verb, **words}) + "\n")
            self.keeper.stdin.flush()
            return self.answer()

    def answer(self) -> Any:
        """The next line that it says."""
        assert self.keeper.stdout is not None
        line = self.keeper.stdout.readline()
        if not line:
            raise GiveUp(f"the hall of servers has ended: {self.said()}")
        told = json.loads(line)
        if "problem" in told:
            raise GiveUp(f"the hall of servers: {told['problem']}")
        return told["answer"]

    def said(self) -> str:
        """What the hall and its keeper have complained of."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()

    def run(self, server: str, command: str) -> str:
        """Run a command on a server, expect success, and return its output."""
        done = self.try_to_run(server, command)
        assert done["code"] == 0, f"{command}: {done['complaint']}"
        return str(done["output"])

    def try_to_run(self, server: str, command: str) -> dict[str, Any]:
        """The same, whatever the result."""
        done: dict[str, Any] = self.ask("run", name=server, command=command)
        return done

    def first_process(self) -> int:
        """The process that all servers run under."""
        return only_child(only_child(self.keeper.pid))

    def listen(self, address: str, port: int) -> socket.socket:
        """A socket of this process in the hall's network."""

        def there() -> socket.socket:
            # It is this thread alone that moves, and it ends.
            path = f"/proc/{self.first_process()}/ns/net"
            namespace = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if ctypes.CDLL(None, use_errno=True).setns(namespace, _NETWORK) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
            finally:
                os.close(namespace)
            return socket.create_server((address, port))

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(there).result()


@contextlib.contextmanager
def hall_of(image: Path) -> Iterator[KeptHall]:
    """A hall without servers, for as long as the context lasts."""
    name = name_of(os.getpid(), next(_NUMBERS))
    with tempfile.TemporaryFile() as log:
        hall = KeptHall(name, _keeper(name, image, log), log)
        try:
            hall.answer()
            yield hall
        finally:
            _end(hall.keeper)


def _keeper(name: str, image: Path, log: IO[bytes]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.machines.keeper", name, str(image)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        # Ctrl-C goes to a whole group of processes, and the keeper has to clean up.
        start_new_session=True,
    )


def _end(keeper: subprocess.Popen[str]) -> None:
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    with contextlib.suppress(OSError):
        keeper.stdin.close()
    keeper.wait(_ENDS_WITHIN)
    keeper.stdout.close()
