"""`make demo`: the product's main job on a real control plane, told line by line.

It ends by itself and leaves nothing behind, also when it is interrupted; `--keep` leaves the
cluster and says how to look around.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import GiveUp
from kwok.down import bring_down
from kwok.programs import add_program_arguments, programs_for
from kwok.progress import Progress
from kwok.up import bring_up

if TYPE_CHECKING:
    import argparse

    from kwok.clusters import Cluster

SUMMARY = "show what growth does, on a cluster of its own"

_NAME: Final = "growth-demo"
_EXAMPLE: Final = "docs/examples/kwok/pool.yaml"
_ROOT: Final = Path(__file__).resolve().parent.parent
_MISTAKE: Final = ("{name: cx33, max: 10}", "{name: cx33, max: 10}\n    - {name: CX33, max: 2}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `demo`."""
    parser.add_argument("--keep", action="store_true", help="leave the cluster running")
    add_program_arguments(parser)
    parser.set_defaults(scheduler_config=None)


def run(arguments: argparse.Namespace) -> int:
    """Show it, and clean up whatever happened."""
    # What happens is told here, so the steps below keep silent; only a long one shows its progress.
    silent = Progress(stream=io.StringIO())
    try:
        cluster = _control_plane(arguments, silent)
        story = Story(cluster, kubectl=_kubectl(arguments))
        story.tell()
        if arguments.keep:
            story.look_around()
    except BaseException:
        bring_down(_NAME, progress=silent)
        raise
    if not arguments.keep:
        started = time.monotonic()
        bring_down(_NAME, progress=silent)
        _step("cluster", _NAME, "removed without a trace", since=started)
    return 0


def _control_plane(arguments: argparse.Namespace, silent: Progress) -> Cluster:
    started = time.monotonic()
    found = programs_for(arguments, Progress())
    version = found["kube-apiserver"].version
    origins = ", ".join(sorted({program.origin for program in found.values()}))
    programs = f"etcd, kube-apiserver, kube-scheduler {version}, kwok"
    _step("control plane", programs, origins, since=started)
    started = time.monotonic()
    cluster = bring_up(_NAME, arguments=arguments, progress=silent)
    _step("cluster", _NAME, "ready", since=started)
    return cluster


def _kubectl(arguments: argparse.Namespace) -> Path:
    return programs_for(arguments, Progress())["kubectl"].path


def _step(subject: str, what: str, state: str, *, since: float) -> None:
    print(f"  {subject:15} {what:51} {state:23} {time.monotonic() - since:6.1f} s", flush=True)


class Story:
    """What is shown once the cluster stands."""

    def __init__(self, cluster: Cluster, *, kubectl: Path) -> None:
        self._cluster = cluster
        self._kubectl_path = kubectl

    def tell(self) -> None:
        """Every chapter, in order."""
        self._install_objects()
        self._apply_a_pool()
        self._make_a_mistake()

    def look_around(self) -> None:
        """How to go on by oneself."""
        kubeconfig = self._cluster.kubeconfig
        print(
            f"\n  It goes on running. Look around:  export KUBECONFIG={kubeconfig}\n"
            f"                                    {self._kubectl_path} get growth,nodes\n"
            "                                    .venv/bin/growth doctor\n"
            f"  End it:                           make down NAME={_NAME}"
        )

    def _install_objects(self) -> None:
        started = time.monotonic()
        definitions = self._growth("crds")
        self._kubectl("apply", "--server-side", "-f", "-", given=definitions)
        kinds = definitions.count("kind: CustomResourceDefinition")
        self._kubectl("wait", "crd", "--for=condition=Established", "--all", "--timeout=20s")
        _step("objects", f"{kinds} kinds of growth.dev/v1alpha1", "installed", since=started)

    def _apply_a_pool(self) -> None:
        applied = self._kubectl("apply", "-f", str(_ROOT / _EXAMPLE))
        print(f"\n  1  A pool and its catalogue of machines ({_EXAMPLE}):")
        _indented(applied)
        _indented(self._kubectl("get", "nodepools,kwoknodeclasses"))

    def _make_a_mistake(self) -> None:
        wrong = (_ROOT / _EXAMPLE).read_text("utf-8").replace(*_MISTAKE)
        print("\n  2  The same pool with a type listed twice. The API server says:")
        _indented(self._refused(str(self._kubectl_path), "apply", "-f", "-", given=wrong))
        print("     and growth says it without a cluster, with the line:")
        growth = [sys.executable, "-m", "growth.cli"]
        _indented(self._refused(*growth, "validate", "-f", "-", given=wrong))
        print()

    def _growth(self, *words: str) -> str:
        return self._run(sys.executable, "-m", "growth.cli", *words)

    def _kubectl(self, *words: str, given: str | None = None) -> str:
        return self._run(str(self._kubectl_path), *words, given=given)

    def _run(self, *command: str, given: str | None = None) -> str:
        done = self._start(*command, given=given)
        if done.returncode != 0:
            raise GiveUp(f"{' '.join(command[:4])} failed: {done.stderr.strip()}")
        return done.stdout

    def _refused(self, *command: str, given: str) -> str:
        done = self._start(*command, given=given)
        if done.returncode == 0:
            raise GiveUp(f"{' '.join(command[:4])} took what it should have refused")
        return done.stderr

    def _start(self, *command: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KUBECONFIG": str(self._cluster.kubeconfig)}
        return subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, env=environment
        )


def _indented(text: str) -> None:
    for line in text.strip().splitlines():
        print(f"       {line}")
