"""What happens to the API server itself: killed, started again, its store compacted."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from kwok.processes import end_processes, processes_in
from tests.live import wait_until

if TYPE_CHECKING:
    from tests.live import LiveCluster

API_SERVER = "kube-apiserver"


async def kill_api_server(cluster: LiveCluster) -> list[str]:
    """SIGKILL; gives the command that starts it again."""
    return await asyncio.to_thread(_kill, cluster)


async def start_api_server(cluster: LiveCluster, command: list[str]) -> None:
    """Starts it as it was, and waits until it is ready."""
    await asyncio.to_thread(_start, cluster, command)


async def compact(cluster: LiveCluster) -> None:
    """Makes the store forget all versions but the newest."""
    await asyncio.to_thread(_compact, cluster)


def _folder(cluster: LiveCluster) -> Path:
    return cluster.kubeconfig.parent


def _kill(cluster: LiveCluster) -> list[str]:
    [process] = processes_in(_folder(cluster), {API_SERVER})
    command = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")[:-1]
    end_processes(_folder(cluster), {API_SERVER})
    return [os.fsdecode(word) for word in command]


def _start(cluster: LiveCluster, command: list[str]) -> None:
    log = _folder(cluster) / "logs" / f"{API_SERVER}.log"
    with log.open("ab") as output:
        # The shell ends at once, so the server is nobody's child, as it was before.
        subprocess.run(
            ["sh", "-c", '"$@" &', "sh", *command],
            cwd=_folder(cluster),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            check=True,
        )
    wait_until(
        lambda: cluster.try_kubectl("get", "--raw", "/readyz").returncode == 0,
        "an API server that is ready again",
    )


def _compact(cluster: LiveCluster) -> None:
    record = json.loads((cluster.kubeconfig.parents[2] / "cluster.json").read_text("utf-8"))
    store = f"http://127.0.0.1:{record['ports']['etcd']}"
    newest = _post(f"{store}/v3/kv/range", {"key": "AA=="})["header"]["revision"]
    _post(f"{store}/v3/kv/compaction", {"revision": newest, "physical": True})


def _post(url: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
    request = urllib.request.Request(url, data=json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        found: dict[str, dict[str, str]] = json.loads(answer.read())
        return found
