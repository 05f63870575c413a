"""The process that all servers run under: the first one of a PID namespace.

It has a network of its own, with Hetzner's metadata address, the address of the API server, and a
bridge that the servers are on. It reads requests, one JSON object in a line, and answers each in a
line. When its input ends, it ends too, and the kernel ends all servers with their networks and
mounts: so it doesn't matter how the process ended that wanted them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.machines import cgroups
from tests.machines.places import (
    API_ADDRESS,
    GATEWAY,
    METADATA_ADDRESS,
    PACKAGES_ADDRESS,
    only_child,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BRIDGE: Final = "servers"
FIRST_PRIVATE: Final = 7
"""The number in the name of the first interface in a private network, as at Hetzner."""
BOOT: Final = Path(__file__).with_name("boot.sh")
_ENTER: Final = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")
_PODS: Final = "10.244.{number}.0/24"


@dataclass
class Booted:
    """One server that is running."""

    folder: Path
    process: subprocess.Popen[bytes]
    order: dict[str, Any]
    """What was asked for: it is booted with the same again."""
    private: list[str] = field(default_factory=list)

    @property
    def init(self) -> int:
        """Its first process."""
        return only_child(self.process.pid)


class Hall:
    """The servers, by name."""

    def __init__(self, *, name: str, folder: Path, image: Path) -> None:
        self._name = name
        self._folder = folder
        self._image = image
        self._servers: dict[str, Booted] = {}

    def lay_network(self) -> None:
        """The end of the network that isn't the servers'."""
        _ip("link", "set", "lo", "up")
        for address in (METADATA_ADDRESS, API_ADDRESS, PACKAGES_ADDRESS):
            _ip("address", "add", f"{address}/32", "dev", "lo")
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("address", "add", f"{GATEWAY}/16", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        # Servers answer from their private address, too.
        _ip("route", "add", "10.0.0.0/16", "dev", BRIDGE)

    def boot(self, **order: Any) -> None:
        """Start a server: a new one, or one that was stopped, with the disk that it had."""
        name = order["name"]
        folder = self._folder / name
        if not folder.exists():
            lay_disk(folder, **order)
        groups = cgroups.make_group(self._name, name)
        namespaces = ("--net", *_ENTER[:3], "--pid", "--cgroup")
        apart = ("unshare", *namespaces, "--fork", "--kill-child", "--propagation", "private")
        with (folder / "console.log").open("ab") as console:
            process = subprocess.Popen(
                [*apart, str(BOOT), str(self._image), str(folder), order["address"], GATEWAY],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                preexec_fn=partial(cgroups.enter, groups),  # noqa: PLW1509 - this process has one thread
            )
        self._servers[name] = Booted(folder, process, order)
        _wait_for_network(process.pid)
        _plug(order["number"], process.pid, "eth0")

    def attach(self, *, name: str, address: str) -> None:
        """Plug a server into a private network."""
        server = self._servers[name]
        interface = f"enp{FIRST_PRIVATE + len(server.private)}s0"
        server.private.append(address)
        number = 1000 * len(server.private) + server.order["number"]
        _plug(number, server.process.pid, interface)
        inside = ("nsenter", f"--net=/proc/{server.process.pid}/ns/net", "ip")
        _run(*inside, "address", "add", f"{address}/16", "dev", interface)
        _run(*inside, "link", "set", interface, "up")

    def run(self, *, name: str, command: str, within: float = 60.0) -> dict[str, Any]:
        """Run a command on a server."""
        words = ("nsenter", "--target", str(self._servers[name].init), *_ENTER, "sh", "-c", command)
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=within,
            stdin=subprocess.DEVNULL,
        )
        return {"code": done.returncode, "output": done.stdout, "complaint": done.stderr}

    def stop(self, *, name: str) -> None:
        """Pull the plug; the disk stays."""
        server = self._servers.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.init, signal.SIGKILL)
        server.process.wait()
        cgroups.remove_group(self._name, name)

    def reboot(self, *, name: str) -> None:
        """Pull the plug, and switch it on again."""
        server = self._servers[name]
        self.stop(name=name)
        self.boot(**server.order)
        for address in server.private:
            self.attach(name=name, address=address)

    def end(self, *, name: str) -> None:
        """Pull the plug, and throw the disk away."""
        if name in self._servers:
            self.stop(name=name)
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request says."""
        try:
            done = getattr(self, request.pop("verb"))(**request)
        except (OSError, subprocess.SubprocessError, LookupError) as failure:
            return {"problem": f"{type(failure).__name__}: {failure}"}
        return {"answer": done}


def lay_disk(
    folder: Path,
    *,
    name: str,
    number: int,
    serial: str,
    memory: int,
    changes: Mapping[str, str | None] = {},
    **_: Any,
) -> None:
    """What makes a server's disk different from the image, and its hardware from this machine."""
    for each in ("upper/etc/cni/net.d", "work", "root", "data", "dmi"):
        (folder / each).mkdir(parents=True)
    etc = folder / "upper" / "etc"
    (etc / "machine-id").write_text(f"{uuid.uuid4().hex}\n")
    (etc / "hostname").write_text(f"{name}\n")
    (etc / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n")
    (etc / "serial").write_text(f"{serial}\n")
    (etc / "cni" / "net.d" / "10-pods.conflist").write_text(json.dumps(_pod_network(number)))
    (folder / "dmi" / "sys_vendor").write_text("Hetzner\n")
    (folder / "dmi" / "product_serial").write_text(f"{serial}\n")
    (folder / "meminfo").write_text(_meminfo(Path("/proc/meminfo").read_text("utf-8"), memory))
    mounts = (f"{it.type} {it.options} {it.name}\n" for it in cgroups.hierarchies())
    (folder / "cgroups").write_text("".join(mounts))
    for path, content in changes.items():
        _change(folder / "upper" / path, content)


def _change(path: Path, content: str | None) -> None:
    """Another content of a file of the image, or none: overlays hide a file by such a device."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))
    else:
        path.write_text(content)
        path.chmod(0o755 if content.startswith("#!") else 0o644)


def _meminfo(text: str, memory: int) -> str:
    """The kernel's figures, of a machine with so many bytes."""
    amounts = {"MemTotal": memory, "MemFree": memory * 9 // 10, "MemAvailable": memory * 9 // 10}
    lines = dict(line.split(":", 1) for line in text.splitlines())
    changed = {key: f" {amount // 1024} kB" for key, amount in amounts.items()}
    return "".join(f"{key}:{value}\n" for key, value in {**lines, **changed}.items())


def _pod_network(number: int) -> dict[str, Any]:
    ranges = [[{"subnet": _PODS.format(number=number)}]]
    addresses = {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]}
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": addresses}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}


def _plug(number: int, process: int, name: str) -> None:
    """A cable from the bridge to a server."""
    ours = f"port{number}"
    peer = ("peer", "name", name, "netns", str(process))
    _ip("link", "add", ours, "type", "veth", *peer)
    _ip("link", "set", ours, "master", BRIDGE, "up")


def _wait_for_network(process: int) -> None:
    ours = os.readlink("/proc/self/ns/net")  # noqa: PTH115 - it names no file
    while os.readlink(f"/proc/{process}/ns/net") == ours:  # noqa: PTH115 - the same
        time.sleep(0.001)


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def main(words: Iterable[str]) -> None:
    """Serve until the input ends."""
    name, folder, image = words
    hall = Hall(name=name, folder=Path(folder), image=Path(image))
    hall.lay_network()
    print(json.dumps({"answer": None}), flush=True)  # noqa: T201 - the protocol
    for line in sys.stdin:
        print(json.dumps(hall.answer(json.loads(line))), flush=True)  # noqa: T201 - the protocol


if __name__ == "__main__":
    main(sys.argv[1:])
