"""Real processes: they start, answer, and end within their limit, whatever holds them up."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

import extender.__main__
import reconciler.__main__
import webhooks.__main__
from growth.service import process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROCESSES: dict[str, process.Process[Any]] = {
    "extender": extender.__main__.PROCESS,
    "webhooks": webhooks.__main__.PROCESS,
    "reconciler": reconciler.__main__.PROCESS,
}
LIMIT = 60.0
"""Far below `PATIENCE` and an hour, far above the five seconds of `--shutdown-limit`: these end by
themselves, also where an interpreter takes seconds to go."""
FREE_PORTS = {
    f"GROWTH_{use}_ADDRESS": "127.0.0.1:0" for use in ("METRICS", "VERBS", "DEMAND", "WEBHOOK")
}
"""Other tests may run at the same time."""
PATIENCE = 100
"""Seconds for what has no limit of its own, on a machine that does much else."""


class Running:
    """A process of ours, and the lines of its log as they come."""

    def __init__(self, *words: str) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", *words],
            env={**os.environ, **FREE_PORTS},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[dict[str, Any]] = []
        self._incoming: queue.Queue[str] = queue.Queue()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.popen.stderr is not None
        with self.popen.stderr as lines:
            for line in lines:
                self._incoming.put(line)

    def wait_for(self, message: str) -> dict[str, Any]:
        """The first line with this message."""
        while True:
            line: dict[str, Any] = json.loads(self._incoming.get(timeout=PATIENCE))
            self.lines.append(line)
            if line["message"] == message:
                return line

    def ask(self, path: str) -> tuple[int, str]:
        url = f"http://{self.started['metrics_address']}{path}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def start(self) -> Running:
        self.started = self.wait_for("started")
        return self

    def end(self, number: signal.Signals) -> tuple[int, float]:
        """Its exit code, and the seconds from the signal to it."""
        begin = time.monotonic()
        self.popen.send_signal(number)
        return self.popen.wait(PATIENCE), time.monotonic() - begin

    def rest(self) -> list[dict[str, Any]]:
        """What it said since, after its end."""
        self.popen.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return [json.loads(line) for line in list(self._incoming.queue)]

    def close(self) -> None:
        self.popen.kill()
        self.popen.wait()
        self._reading.join()


@contextlib.contextmanager
def running(*words: str) -> Iterator[Running]:
    one = Running(*words)
    try:
        yield one.start()
    finally:
        one.close()


def bakery(way: str, *words: str) -> contextlib.AbstractContextManager[Running]:
    return running("tests.service.stubborn", way, *words)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """It leads to an API server that is away."""
    path = tmp_path / "kubeconfig"
    path.write_text(
        "{apiVersion: v1, kind: Config, current-context: away,"
        " clusters: [{name: away, cluster: {server: 'http://127.0.0.1:1'}}],"
        " contexts: [{name: away, context: {cluster: away, user: nobody}}],"
        " users: [{name: nobody, user: {}}]}"
    )
    return path


@pytest.mark.parametrize("name", PROCESSES)
def test_each_process_answers_and_ends_in_time_though_the_api_server_is_away(
    name: str, kubeconfig: Path
) -> None:
    # The usual limit of five seconds is short for a machine that does much else.
    with running(name, "--kubeconfig", str(kubeconfig), "--shutdown-limit", "50s") as one:
        assert one.ask("/healthz") == (200, "ok event loop\n")
        assert one.ask("/readyz?verbose")[1].startswith("ok process\n")
        status, metrics = one.ask("/metrics")
        assert status == 200
        assert f'process="growth-{name}"' in metrics

        exit_code, seconds = one.end(signal.SIGTERM)

        assert exit_code == 0
        assert seconds < LIMIT
        said = one.rest()
        assert (said[-1]["message"], said[-1]["exit_code"]) == ("ended", 0)
        assert {line["process"] for line in said} == {f"growth-{name}"}


def test_control_c_ends_a_process_as_well() -> None:
    with bakery("obey") as one:
        exit_code, seconds = one.end(signal.SIGINT)

        assert exit_code == 0
        assert seconds < LIMIT


def test_a_part_that_takes_no_cancellation_is_named_and_left_behind_in_time() -> None:
    with bakery("ignore-cancellation") as one:
        exit_code, seconds = one.end(signal.SIGTERM)

        assert exit_code == 0
        assert seconds < LIMIT
        last = one.rest()[-1]
        assert last["message"] == "shutdown timed out"
        assert (last["parts"], last["threads"]) == (["oven"], [])


@pytest.mark.parametrize(
    ("way", "parts", "thread"),
    [
        ("block-the-loop", ["oven"], None),
        ("hang-in-the-pool", [], "asyncio_0"),
        ("hang-in-a-thread", [], "baker"),
    ],
)
def test_nothing_that_hangs_keeps_a_process_beyond_its_limit(
    way: str, parts: list[str], thread: str | None
) -> None:
    with bakery(way, "--shutdown-limit", "1s") as one:
        time.sleep(0.5)  # Nothing outside can tell when the loop is blocked.

        exit_code, seconds = one.end(signal.SIGTERM)

        assert exit_code == 0
        assert seconds < LIMIT
        last = one.rest()[-1]
        assert last["message"] == "shutdown timed out"
        assert last["parts"] == parts
        assert thread is None or thread in last["threads"]


def test_while_it_ends_a_process_is_alive_and_not_ready() -> None:
    with bakery("ignore-cancellation", "--shutdown-limit", "1h") as one:
        one.popen.send_signal(signal.SIGTERM)
        one.wait_for("ending")

        assert one.ask("/readyz") == (503, "no process: it is shutting down\n")
        assert one.ask("/healthz") == (200, "ok event loop\n")


def test_a_second_signal_ends_a_process_at_once() -> None:
    with bakery("ignore-cancellation", "--shutdown-limit", "1h") as one:
        one.popen.send_signal(signal.SIGTERM)
        one.wait_for("ending")

        exit_code, seconds = one.end(signal.SIGTERM)

        assert exit_code == 128 + signal.SIGTERM
        assert seconds < LIMIT


@pytest.mark.parametrize("way", ["crash", "crash-beside-one-that-ignores-it"])
def test_a_crash_ends_the_process_with_its_stack_trace_in_the_log(way: str) -> None:
    with bakery(way, "--shutdown-limit", "1s") as one:
        told = one.wait_for("part crashed")

        assert one.popen.wait(PATIENCE) == 1
        assert "OSError: the oven is on fire" in told["exception"]


def test_a_crash_stays_a_crash_when_a_signal_follows_it() -> None:
    with bakery("crash-beside-one-that-ignores-it", "--shutdown-limit", "1s") as one:
        one.wait_for("part crashed")

        exit_code, _ = one.end(signal.SIGTERM)

        assert exit_code == 1


def test_what_a_person_has_to_mend_ends_the_process_with_one_line() -> None:
    with bakery("miss-the-flour") as one:
        told = one.wait_for("misconfigured")

        assert one.popen.wait(PATIENCE) == 2
        assert told["reason"] == "--flour: this has no default"
        assert "exception" not in told


def test_a_taken_port_is_one_line_and_exit_code_2() -> None:
    with bakery("obey") as one:
        address = one.started["metrics_address"]

        done = subprocess.run(
            [sys.executable, "-m", "webhooks", "--metrics-address", address],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"--metrics-address: cannot listen on {address}: address already in use; "
        "choose another one, or :0\n"
    )


@pytest.mark.parametrize("name", PROCESSES)
def test_a_wrong_flag_is_one_line_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert process.main(PROCESSES[name], ["--log-level", "loud"]) == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == '--log-level: "loud" must be debug, info, warning or error\n'


@pytest.mark.parametrize("name", PROCESSES)
def test_help_and_printed_settings_go_to_standard_output(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert process.main(PROCESSES[name], ["--help"]) == 0
    assert capsys.readouterr().out.startswith(f"growth-{name} ")

    assert process.main(PROCESSES[name], ["--print-settings", "--log-level=debug"]) == 0
    assert "log-level: debug  # --log-level\n" in capsys.readouterr().out


def test_the_processes_can_share_a_host() -> None:
    addresses = {one.settings.model_fields["metrics_address"].default for one in PROCESSES.values()}

    assert len(addresses) == len(PROCESSES)
