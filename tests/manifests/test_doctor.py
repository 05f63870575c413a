"""`growth doctor` on a real control plane, where `growth install` has worked and processes run."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from growth.cli.__main__ import main
from tests.cluster_wide import may, wait_steadily
from tests.live import IN_TIME, wait_until
from tests.manifests.beside import pod_network
from tests.manifests.reading import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.manifests.beside import Beside

pytestmark = pytest.mark.cluster


async def examined(
    beside: Beside, folder: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """The findings that aren't well, by subject; the last of each."""
    async with pod_network(beside, folder) as kubeconfig:
        words = ["doctor", "--kubeconfig", str(kubeconfig), "-o", "json"]
        capsys.readouterr()
        code = await asyncio.to_thread(main, words)
    out, err = capsys.readouterr()
    assert out, err
    found = json.loads(out)
    assert code == any(each["level"] == "FAIL" for each in found)
    return {each["subject"]: each for each in found if each["level"] != "ok"}


async def test_what_was_installed_and_works_is_all_green(
    beside: Beside, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await asyncio.to_thread(wait_until, lambda: is_read(beside), "the pool is read")

    async with asyncio.timeout(IN_TIME):
        while found := await examined(beside, tmp_path, capsys):
            # What is late on a busy machine is well in the end.
            sys.stdout.write(f"not yet: {found}\n")


def is_read(beside: Beside) -> bool:
    pools = beside.cluster.get("nodepools")["items"]
    classes = beside.cluster.get("kwoknodeclasses")["items"]
    return all("observedGeneration" in each.get("status", {}) for each in [*pools, *classes])


@contextmanager
def without_binding(beside: Beside) -> Iterator[None]:
    cluster = beside.cluster
    before = cluster.get("clusterrolebinding", "growth-extender")
    for of_the_server in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        before["metadata"].pop(of_the_server, None)

    def may_list() -> bool:
        return may(cluster, "list", "pods", account=f"{SYSTEM}:growth-extender")

    cluster.kubectl("delete", "clusterrolebinding", "growth-extender")
    try:
        wait_steadily(lambda: not may_list(), "the extender without rights")
        yield
    finally:
        cluster.create(before)
        wait_steadily(may_list, "the extender with rights")


@contextmanager
def frozen_webhook(beside: Beside) -> Iterator[None]:
    beside.processes["webhooks"].send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        beside.processes["webhooks"].send_signal(signal.SIGCONT)


@contextmanager
def scaled_to_none(beside: Beside) -> Iterator[None]:
    scale = ("scale", "deployment", "growth-webhooks", "--namespace", SYSTEM)
    beside.cluster.kubectl(*scale, "--replicas=0")
    try:
        yield
    finally:
        beside.cluster.kubectl(*scale, "--replicas=2")


@contextmanager
def another_pool(beside: Beside) -> Iterator[None]:
    """One whose node class isn't there."""
    spec = {
        "serverTypes": [{"name": "cx23", "max": 1}],
        "nodeClassRef": {"kind": "KwokNodeClass", "name": "nowhere"},
    }
    metadata = {"name": "lost"}
    kind = {"apiVersion": "growth.dev/v1alpha1", "kind": "NodePool"}
    beside.cluster.create({**kind, "metadata": metadata, "spec": spec})

    def is_blocked() -> bool:
        status = beside.cluster.get("nodepool", "lost").get("status", {})
        return "blocked" in status

    try:
        wait_until(is_blocked, "the pool says that it is blocked")
        yield
    finally:
        beside.cluster.kubectl("delete", "nodepool", "lost", "--wait=false")


BROKEN: dict[str, tuple[Callable[[Beside], AbstractContextManager[None]], str, str]] = {
    "rights": (without_binding, "growth-extender isn't allowed to list", "growth install"),
    "webhook": (frozen_webhook, "the API server doesn't reach it", "port 9443"),
    "processes": (scaled_to_none, "growth-webhooks: scaled to 0 replicas", "kubectl scale"),
    "pool lost": (another_pool, "nowhere", "kubectl edit nodepool lost"),
}


@pytest.mark.parametrize("subject", BROKEN)
async def test_what_is_broken_is_named_on_a_real_server_too(
    subject: str, beside: Beside, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks, text, hint = BROKEN[subject]
    broken = breaks(beside)
    await asyncio.to_thread(broken.__enter__)
    try:
        found = await examined(beside, tmp_path, capsys)
    finally:
        await asyncio.to_thread(broken.__exit__, None, None, None)

    assert text in found[subject]["text"]
    assert hint in found[subject]["hint"]
