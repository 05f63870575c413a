"""An additional scheduler next to a cluster's own, for its own pods, with its own configuration.

Two schedulers, with and without an extender, see the same cluster at the same time, which two
clusters never do. It also corresponds to a managed control plane, whose scheduler can't be
configured. What a scheduler has done is read from its metrics.
"""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml
from prometheus_client.parser import text_string_to_metric_families

from growth.errors import GiveUp
from kwok.ports import free_port
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_READY_WITHIN: Final = 120.0
_TIMEOUT: Final = 5.0


@dataclass(frozen=True, slots=True)
class RunningScheduler:
    """A running scheduler."""

    name: str
    """The value of spec.schedulerName of its pods."""
    port: int

    def attempts(self) -> int:
        """Number of its attempts to place a pod."""
        return int(self.figure("scheduler_schedule_attempts"))

    def figure(self, metric: str, **labels: str) -> float:
        """The sum of a metric's samples with these labels; for a counter, without its `_total`."""
        families = text_string_to_metric_families(_asked(self.port, "/metrics"))
        return sum(
            sample.value
            for family in families
            if family.name == metric
            for sample in family.samples
            if labels.items() <= sample.labels.items()
            and sample.name in {metric, f"{metric}_total"}
        )

    def is_ready(self) -> bool:
        """Whether its caches are filled."""
        with contextlib.suppress(OSError):
            return _asked(self.port, "/readyz") == "ok"
        return False


@contextlib.contextmanager
def scheduling(kubeconfig: Path, *, name: str, configuration: str) -> Iterator[RunningScheduler]:
    """Run a scheduler while the context lasts; afterwards its pods stay pending."""
    content = _completed(configuration, name=name, kubeconfig=kubeconfig)
    allowing = "--authorization-always-allow-paths=/readyz,/metrics"
    with configured(kubeconfig.parent, content, allowing, name=name) as scheduler:
        yield scheduler


@contextlib.contextmanager
def configured(
    folder: Path, configuration: str, *words: str, name: str
) -> Iterator[RunningScheduler]:
    """The same with an unchanged configuration, in a cluster's folder."""
    scheduler = RunningScheduler(name, free_port())
    written = folder / f"scheduler-{name}.yaml"
    written.write_text(configuration, "utf-8")
    command = [
        str(folder / "bin" / "kube-scheduler"),
        f"--config={written}",
        "--bind-address=127.0.0.1",
        f"--secure-port={scheduler.port}",
        *words,
    ]
    log = folder / "logs" / f"scheduler-{name}.log"
    with log.open("ab") as output, subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output
    ) as process:  # fmt: skip
        try:
            _wait(scheduler, process, log)
            yield scheduler
        finally:
            process.kill()


def _completed(configuration: str, *, name: str, kubeconfig: Path) -> str:
    content: dict[str, Any] = yaml.safe_load(configuration)
    content["profiles"] = [{"schedulerName": name}]
    content["leaderElection"] = {"leaderElect": False}
    content.setdefault("clientConnection", {})["kubeconfig"] = str(kubeconfig)
    text: str = yaml.safe_dump(content)
    return text


def _wait(scheduler: RunningScheduler, process: subprocess.Popen[bytes], log: Path) -> None:
    def is_ready() -> bool:
        if process.poll() is not None:
            raise GiveUp(f'scheduler "{scheduler.name}" has ended; see {log}')
        return scheduler.is_ready()

    goal = f'scheduler "{scheduler.name}"'
    wait_for(is_ready, goal, patience=Patience(_READY_WITHIN), log=log)


def _asked(port: int, path: str) -> str:
    # It creates its certificate itself, at each start.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    url = f"https://127.0.0.1:{port}{path}"
    with urllib.request.urlopen(url, timeout=_TIMEOUT, context=context) as answer:
        body: bytes = answer.read()
        return body.decode()
