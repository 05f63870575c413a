"""Draw docs/pictures anew: the demo, what commands show, and the dashboard.

Growth is installed in a cluster of its own, as it is shipped, and works there for some minutes
while a real Prometheus looks on. Without a Prometheus the dashboard stays as it was, and that is
said.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from growth.cli.cluster.names import ALONE
from tests.live import ROOT, wait_until
from tests.manifests.beside import installed_beside, pod_network
from tests.manifests.programs import find
from tests.manifests.prometheus import scraping
from tests.pictures import panels, terminal
from tests.pictures.recording import COLUMNS, Piece, recorded
from tests.pictures.screen import BY_ITSELF, Screen
from tests.pictures.story import NAMESPACE, Shop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.manifests.beside import Beside
    from tests.manifests.prometheus import Prometheus
    from tests.pictures.panels import Series

FOLDER: Final = ROOT / "docs" / "pictures"
DASHBOARD: Final = ROOT / "manifests" / "dashboards" / "growth.json"
PROCESSES: Final = ("webhooks", "extender", "reconciler")
SPEED: Final = 4.0
"""How much faster than it was the demo is shown."""
STEP: Final = 2.0
HOST: Final = "this-machine"
QUIET: Final = {"GROWTH_QUIET": "5s"}


def main(words: Sequence[str]) -> int:
    """Draw all of them, or only the `demo`, or only what a `cluster` shows."""
    FOLDER.mkdir(exist_ok=True)
    if "cluster" not in words:
        _demo()
    return 0 if "demo" in words else _cluster()


def _cluster() -> int:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="growth-pictures-")))
        os.environ.update(QUIET)
        beside = stack.enter_context(installed_beside("growth-pictures", folder))
        targets = {name: beside.ports[name] for name in PROCESSES}
        if find("prometheus") is None:
            print("no dashboard: python -m tests.manifests.programs builds a Prometheus")
            _commands(beside, folder)
            return 1
        prometheus = stack.enter_context(scraping(targets, folder))
        wait_until(lambda: prometheus.series("up == 1") == len(targets), "all are scraped")
        began = time.time()
        _commands(beside, folder)
        _dashboard(prometheus, began)
    return 0


def _demo() -> None:
    pieces = recorded([sys.executable, "-m", "kwok", "demo"], environment=_environment(), seconds=0)
    _draw("demo", "make demo", pieces, speed=SPEED)


def _commands(beside: Beside, folder: Path) -> None:
    shop, kubeconfig = Shop(beside.cluster), beside.cluster.kubeconfig
    shop.open()
    _show("watch", kubeconfig, seconds=20, then=partial(shop.scale, 1.5))
    pod = shop.ask_for_too_much()
    time.sleep(12)
    _show("status", kubeconfig)
    _show("top", kubeconfig, seconds=1)
    _show("cost", kubeconfig)
    _show(f"explain pod {NAMESPACE}/{pod}", kubeconfig)
    _show(f"explain node {ALONE.of(shop.busiest_node())}", kubeconfig)
    asyncio.run(_doctor(beside, folder))
    shop.live()


async def _doctor(beside: Beside, folder: Path) -> None:
    async with pod_network(beside, folder) as kubeconfig:
        await asyncio.to_thread(_show, "doctor", kubeconfig)


def _show(
    words: str, kubeconfig: Path, seconds: float = 0, then: Callable[[], None] = lambda: None
) -> None:
    growth = Path(sys.executable).with_name("growth")
    environment = _environment() | {"KUBECONFIG": str(kubeconfig)}
    command = [str(growth), *words.split()]
    pieces = recorded(command, environment=environment, seconds=seconds, then=then)
    _draw("-".join(words.split()[:2]), f"growth {words}", pieces, speed=0)


def _environment() -> dict[str, str]:
    """A window's width comes from the window; what would take colours away is left out."""
    unwanted = ("COLUMNS", "LINES", "NO_COLOR", "KUBECONFIG")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"TERM": "xterm-256color", "PYTHONUNBUFFERED": "1"}


def _draw(name: str, title: str, pieces: Iterable[Piece], *, speed: float) -> None:
    screen = Screen()
    # The leader is named after its host.
    host = re.compile(BY_ITSELF.format(re.escape(socket.gethostname())))
    screen.write(Piece(at, host.sub(HOST, text)) for at, text in pieces)
    lines = screen.written()
    columns = max([COLUMNS, *(len(line.text()) for line in lines)])
    _write(name, terminal.picture(title, lines, columns=columns, speed=speed))


def _dashboard(prometheus: Prometheus, began: float) -> None:
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    answers = {panel["id"]: [*_answers(prometheus, panel, began)] for panel in dashboard["panels"]}
    picture = panels.picture(dashboard, answers, seconds=time.time() - began)
    _write("dashboard", picture)


def _answers(prometheus: Prometheus, panel: dict[str, Any], began: float) -> Iterable[Series]:
    for target in panel.get("targets", ()):
        found = prometheus.history(target["expr"], begin=began, end=time.time(), step=STEP)
        for labels, points in found:
            name = panels.legend(target["legendFormat"], labels)
            yield panels.Series(name, [(at - began, value) for at, value in points])


def _write(name: str, picture: Iterable[str]) -> None:
    file = FOLDER / f"{name}.svg"
    file.write_text("\n".join(picture) + "\n", "utf-8")
    print(file.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
