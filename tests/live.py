"""A real control plane as the tests see it: its kubeconfig, and kubectl."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kwok import down
from kwok.progress import Progress
from tests.raw_api import Answer, Api
from tests.reading_objects import LiveObjects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT: Final = Path(__file__).resolve().parent.parent
IN_TIME: Final = 180.0
"""Seconds for what another process does. Machines may be slow and do much else, so this is for
things that never happen."""
UP_WITHIN: Final = 270.0
"""Seconds; longer than `up` itself waits, so that it can say for what."""
TEST_WITHIN: Final = 900.0
"""Seconds for a test with a cluster, its start included; longer than a wait, which can say for what
it was."""
LONGEST_PAUSE: Final = 0.3
"""Seconds between two looks."""
NO_PROGRAMS: Final = "the control plane did not start in time; run `python -m kwok programs` first"


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """One running cluster."""

    name: str
    kubeconfig: Path
    kubectl_program: Path

    def try_kubectl(self, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:  # noqa: A002 - the word of subprocess
        """Run kubectl as the cluster's administrator, whatever the result."""
        # kubectl must not reuse what it learned about an API for another cluster on the same port.
        cache = self.kubeconfig.with_name("kubectl-cache")
        own = ("--kubeconfig", str(self.kubeconfig), "--cache-dir", str(cache))
        command = [str(self.kubectl_program), *own, *arguments]
        return subprocess.run(command, input=input, capture_output=True, text=True, check=False)

    def kubectl(self, *arguments: str, input: str = "") -> str:  # noqa: A002 - the word of subprocess
        """Run kubectl, expect success, and return its output."""
        answer = self.try_kubectl(*arguments, input=input)
        assert answer.returncode == 0, f"kubectl {' '.join(arguments)}: {answer.stderr}"
        return answer.stdout

    def get(self, *arguments: str) -> Any:
        """The objects that `kubectl get` finds."""
        found = self._objects().get(*arguments)
        return found or json.loads(self.kubectl("get", *arguments, "--output", "json"))

    def create(self, *objects: dict[str, Any], namespace: str = "default") -> None:
        """Create objects."""
        if not self._objects().create(objects, namespace=namespace):
            listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
            self.kubectl("--namespace", namespace, "create", "-f", "-", input=json.dumps(listed))

    def ask(self, method: str, path: str) -> Answer:
        """One request as the cluster's administrator, whatever comes of it."""
        return self._objects().api.ask(method, path)

    def _objects(self) -> LiveObjects:
        if self.kubeconfig not in _opened:
            _opened[self.kubeconfig] = self.name, LiveObjects(Api(self.kubeconfig))
        return _opened[self.kubeconfig][1]


_opened: Final[dict[Path, tuple[str, LiveObjects]]] = {}
"""By kubeconfig, with the name of the cluster."""


def kept_cluster(environment: Mapping[str, str] = os.environ) -> str | None:
    """The cluster that GROWTH_TEST_CLUSTER names; each process of a parallel run has its own.

    What one process adds to the whole cluster, such as nodes, must not affect another one's tests.
    """
    named = environment.get("GROWTH_TEST_CLUSTER")
    process = environment.get("PYTEST_XDIST_WORKER")
    return f"{named}-{process}" if named and process else named or None


def run_kwok(
    *arguments: str, environment: dict[str, str] | None = None, within: float = UP_WITHIN
) -> subprocess.CompletedProcess[str]:
    """Run `python -m kwok` as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "kwok", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=within,
    )


def bring_up(name: str, *arguments: str) -> LiveCluster:
    """Start a cluster, or find the running one."""
    try:
        answer = run_kwok("up", "--name", name, *arguments)
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode(errors="replace")
        pytest.fail(f"{NO_PROGRAMS}\n{said}")
    assert answer.returncode == 0, answer.stderr
    kubeconfig = Path(answer.stdout.splitlines()[-1].removeprefix("KUBECONFIG="))
    record = json.loads((kubeconfig.parents[2] / "cluster.json").read_text("utf-8"))
    return LiveCluster(name, kubeconfig, Path(record["kubectl"]))


def bring_down(name: str) -> None:
    """Remove a cluster."""
    for kubeconfig in [path for path, (cluster, _) in _opened.items() if cluster == name]:
        _opened.pop(kubeconfig)[1].api.close()
    down.bring_down(name, progress=Progress(io.StringIO()))


def wait_until(done: Callable[[], object], goal: str, *, within: float = IN_TIME) -> float:
    """Wait for something that another process does; returns the seconds that it took.

    The limit is for things that never happen; a busy machine may take very long.
    """
    started = time.monotonic()
    while not done():
        waited = time.monotonic() - started
        assert waited < within, f"{goal}: not within {within} s"
        # Looks cost the processor something, too.
        time.sleep(min(LONGEST_PAUSE, 0.05 + waited / 20))
    return time.monotonic() - started
