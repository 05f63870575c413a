"""A server that boots into its user data, with commands that only tell what they would do.

The scripts are run by a real shell. What they name below /etc and /run is in a folder of the test's
own, and commands that would change a machine are stubs; each of them writes down how it was called.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

import yaml

from reconciler.providers.hetzner.bootstrap.rendering import user_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

PREPARE: Final = "/usr/local/lib/growth/prepare"
DEFAULTS: Final = "/etc/default/kubelet"
CONTAINERD: Final = "/etc/containerd/config.toml"
IDENTITY: Final = "/run/growth"
NETWORK: Final = 41
"""The ID of the network that nodes have their address in."""

INSTALLER: Final = """\
echo "k3s $* $INSTALL_K3S_VERSION" >> "$ROOT/calls"
cp -r "$ROOT/etc/rancher/k3s" "$ROOT/seen"
"""
"""Takes the place of k3s' own, and keeps what the agent would have found."""
TOOLS: Final = (*("awk", "cat", "cp", "grep", "mkdir", "mv", "rm", "sed", "sh", "touch"),)
"""Commands that every image has."""

_OWN: Final = re.compile(r"(?<![\w/])/(?=(?:etc|run|usr/local/lib/growth)\b)")
_TAKES: Final = 'echo "$1" >> "$ROOT/seconds"'
STUBS: Final = {
    "apt-get": f"""\
[ "$1" = install ] && [ -e "$ROOT{DEFAULTS}" ] || exit 0
case "$*" in *--force-confold*) exit 0 ;; esac
echo "end of file on stdin at conffile prompt" >&2
exit 100""",
    "apt-mark": "",
    "containerd": 'cat "$ROOT/containerd-default"',
    # Answered from a folder, or as by a network that drops packets: nothing, until the time is up.
    "curl": f"""\
limit=133
for word; do
  case "$last" in --max-time) limit=$word ;; -o) kept=$word ;; esac
  last=$word
done
[ -e "$ROOT/answers" ] || {{ set -- "$limit"; {_TAKES}; exit 28; }}
case "$*" in
  *169.254.169.254*) cat "$ROOT/answers/${{last##*/}}" ;;
  *https://get.k3s.io*) cat "$ROOT/installer" > "$kept" ;;
  *) : > "$kept" ;;
esac""",
    "ip": """\
[ "$1" != -4 ] || exec cat "$ROOT/addresses"
verb=$2
shift 2
touch "$ROOT/rules"
case "$verb" in
  add) grep -qxF -- "$*" "$ROOT/rules" && exit 2; echo "$*" >> "$ROOT/rules" ;;
  del)
    grep -qxF -- "$*" "$ROOT/rules" || exit 2
    grep -vxF -- "$*" "$ROOT/rules" > "$ROOT/left"
    mv "$ROOT/left" "$ROOT/rules" ;;
esac""",
    "kubeadm": "",
    "modprobe": "",
    "sleep": _TAKES,
    # Among everybody's files is one with a key that the kernel refuses.
    "sysctl": 'case "$*" in *--system*) exit 1 ;; esac',
    "systemctl": "",
}


class Server:
    """One machine, in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._programs = root / "stubs"
        self._programs.mkdir()
        for name, behaviour in STUBS.items():
            program = self._programs / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "$ROOT/calls"\n{behaviour}\n')
            program.chmod(0o700)
        self._link_tools()
        for folder in ("answers", "run", "etc/default", "etc/apt/sources.list.d"):
            (root / folder).mkdir(parents=True)
        self.answers(id="42")
        (root / "containerd-default").touch()
        (root / "installer").write_text(INSTALLER)

    def _link_tools(self) -> None:
        for name in TOOLS:
            found = shutil.which(name)
            assert found is not None, name
            (self._programs / name).symlink_to(found)

    def lacks(self, program: str) -> None:
        """From now on its image doesn't contain a command."""
        (self._programs / program).unlink()

    def answers(self, *, id: str, address: str = "") -> None:  # noqa: A002 - Hetzner's word
        """What the metadata service says; an address is also the server's own."""
        (self.root / "answers" / "instance-id").write_text(id)
        self.is_in({NETWORK: address} if address else {})

    def is_in(self, networks: Mapping[int, str]) -> None:
        """Its addresses by the ID of the network, in the order of the metadata service."""
        told = "".join(map(_told_of_network, networks, networks.values()))
        (self.root / "answers" / "private-networks").write_text(told)
        has = (f"    inet {each}/32 scope global enp7s0\n" for each in networks.values())
        (self.root / "addresses").write_text("".join(has))

    def drops_packets(self) -> None:
        """From now on no request is answered."""
        shutil.rmtree(self.root / "answers")

    def boots(self, joining: JoiningServer) -> subprocess.CompletedProcess[str]:
        """Do what cloud-init does with the user data."""
        document = yaml.safe_load(user_data(joining))
        for file in document["write_files"]:
            path = self.path(file["path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._moved(file["content"]))
            path.chmod(int(file["permissions"], 8))
        return self.runs(document["runcmd"][0][2])

    def runs(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run commands on it."""
        shell = shutil.which("sh")
        assert shell is not None
        return subprocess.run(
            [shell, "-c", self._moved(script)],
            env={"PATH": str(self._programs), "ROOT": str(self.root)},
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            check=False,
        )

    def path(self, path: str) -> Path:
        """Where one of its files is."""
        return self.root / path.removeprefix("/")

    def read(self, path: str) -> str:
        """What is in one of its files."""
        return self.path(path).read_text()

    def calls(self) -> list[str]:
        """All commands that would have changed the machine or asked somebody, in their order."""
        return self.path("calls").read_text().replace(str(self.root), "").splitlines()

    def called(self, program: str) -> list[str]:
        """The words that a command was called with, for each call."""
        calls = self.path("calls").read_text().splitlines()
        return [each.removeprefix(f"{program} ") for each in calls if each.startswith(program)]

    @property
    def seconds(self) -> int:
        """How long it has waited."""
        return sum(map(int, self.path("seconds").read_text().split()))

    def _moved(self, text: str) -> str:
        return _OWN.sub(f"{self.root}/", text)


def _told_of_network(network: int, address: str) -> str:
    """An entry in the form of Hetzner's documentation."""
    return f"""\
- ip: {address}
  alias_ips: [10.9.9.9]
  interface_num: 1
  mac_address: 86:00:00:2a:7d:e0
  network_id: {network}
  network_name: any
  network: 10.0.0.0/8
  subnet: 10.0.0.0/24
  gateway: 10.0.0.1
"""


def unit_of(joining: JoiningServer) -> str:
    """The service that keeps pods from the metadata address."""
    document = yaml.safe_load(user_data(joining))
    (unit,) = (it["content"] for it in document["write_files"] if it["path"].endswith(".service"))
    return str(unit)


def lines_of(unit: str, key: str) -> list[str]:
    """All values of a key."""
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{key}=")]


def started(unit: str) -> str:
    """What systemd does to start it, for a shell: the first failure is the last command."""
    return _in_turn(lines_of(unit, "ExecStart"))


def stopped(unit: str) -> str:
    """What systemd does to stop it."""
    return _in_turn(lines_of(unit, "ExecStop"))


def _in_turn(commands: Iterable[str]) -> str:
    lines = [
        f"{each.removeprefix('-')} || true" if each.startswith("-") else f"{each} || exit 1"
        for each in commands
    ]
    return "\n".join(lines)
