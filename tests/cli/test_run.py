"""`growth run`: all processes start and end together."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from growth.cli.__main__ import main
from tests.children import child
from tests.cli.test_top import on_a_terminal
from tests.faults.upstream import kubeconfig_to

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FREE_PORTS = {f"GROWTH_{use}_ADDRESS": "127.0.0.1:0" for use in ("VERBS", "DEMAND", "WEBHOOK")}


@contextmanager
def started(
    kubeconfig: Path, *words: str, folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "growth.cli", "run", "--kubeconfig", str(kubeconfig), *words]
    environment = {**os.environ, **FREE_PORTS}
    with child(
        subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True)
    ) as process:
        yield process


class Version(BaseHTTPRequestHandler):
    """An API server that says who it is, and has nothing else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/version" else 404)
        self.end_headers()
        self.wfile.write(b'{"gitVersion": "v1.36.3"}')

    @override
    def log_message(self, *_: object, **__: object) -> None:
        """Say nothing."""


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Path]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Version) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(kubeconfig_to(f"http://127.0.0.1:{server.server_port}"))
        yield kubeconfig
        server.shutdown()


def test_a_signal_ends_all_of_them_in_order(answering: Path) -> None:
    with started(answering, "--only", "extender", "--only", "webhooks") as running:
        assert running.stderr is not None
        begun = 0
        while begun < 2:
            line = running.stderr.readline()
            assert line, "it has ended"
            begun += '"message": "started"' in line
        running.send_signal(signal.SIGTERM)
        _, rest = running.communicate(timeout=100)
    assert running.returncode == 0
    assert rest.count('"message": "ended"') == 2


def test_on_a_terminal_its_log_is_for_people(answering: Path) -> None:
    """The processes are children, and see the terminal all the same."""
    words = ("--only", "extender", "--kubeconfig", str(answering))
    with pytest.MonkeyPatch.context() as patch:
        for name, address in FREE_PORTS.items():
            patch.setenv(name, address)
        drawn, code = on_a_terminal("run", *words, until=b"extender: listening", times=1)
    lines = [line.strip() for line in drawn.decode().splitlines()]
    assert code == 0
    assert lines
    assert not any(line.startswith("{") for line in lines)


def test_a_process_that_ends_by_itself_ends_the_others_and_is_named(
    answering: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROWTH_STABLE_INTERVAL", "soon")
    with started(answering, "--only", "reconciler") as running:
        _, said = running.communicate(timeout=100)
    assert running.returncode == 1
    assert said.splitlines()[-1] == ("reconciler exited with code 2; see its log above")


def test_a_folder_that_is_called_like_a_process_is_not_run_instead(
    answering: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "extender").mkdir()
    (tmp_path / "extender" / "__init__.py").touch()
    (tmp_path / "extender" / "__main__.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.setenv("GROWTH_LOG_LEVEL", "loud")  # the real one ends at once, too
    with started(answering, "--only", "extender", folder=tmp_path) as running:
        _, said = running.communicate(timeout=100)
    assert "a stranger" not in said
    assert "extender exited with code 2" in said


def test_what_has_started_is_ended_when_a_later_one_cannot_be(
    answering: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start, begun = asyncio.create_subprocess_exec, list[asyncio.subprocess.Process]()

    async def once(*_: str, **__: Any) -> asyncio.subprocess.Process:
        if begun:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        begun.append(await start(sys.executable, "-c", "import time; time.sleep(600)"))
        return begun[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", once)

    assert main(["run", "--kubeconfig", str(answering)]) == 1

    said = capsys.readouterr().err
    assert said == "extender can't be started: resource temporarily unavailable\n"
    assert begun[0].returncode == -signal.SIGTERM
