"""User data for cloud-init: files and commands, written as data so that no value breaks out of it.

Two things are the same for every kind. Before anything joins, the server waits for its private
address and writes it down, as a node that registers with another one is unreachable. And the
metadata address, where user data with its join token can be read, is closed to everything that is
forwarded (pods), while the host and pods on its network keep it; by a routing rule, since that is
there on every image and no network plugin passes it by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.hetznernodeclass import MetadataAccess
from growth.readable_yaml import readable_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

# Without an end of its own a request waits two minutes for packets that are dropped.
FETCH: Final = "curl -sfL --retry 5 --max-time 60"
"""The command that downloads a small file."""
PREPARE_PATH: Final = "/usr/local/lib/growth/prepare"
CLOSING_UNIT: Final = "growth-close-metadata.service"
# systemd-networkd deletes every rule that it hasn't made, unless the kernel is named as its maker.
_HOST_MAY: Final = "priority 90 iif lo to 169.254.169.254/32 lookup main protocol kernel"
_OTHERS_MAY_NOT: Final = "priority 91 to 169.254.169.254/32 prohibit protocol kernel"
# A rule that is gone already must not keep the other one from being deleted: hence the `-`. With
# default dependencies a shutdown would stop the unit, while pods still run that wait for that.
CLOSING: Final = f"""\
[Unit]
Description=Keep pods from the metadata address
DefaultDependencies=no
After=sysinit.target
Before=kubelet.service k3s-agent.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=ip rule add {_HOST_MAY}
ExecStart=ip rule add {_OTHERS_MAY_NOT}
ExecStop=-ip rule del {_HOST_MAY}
ExecStop=-ip rule del {_OTHERS_MAY_NOT}

[Install]
WantedBy=multi-user.target
"""
PREPARE: Final = """\
#!/bin/sh
# Asks Hetzner who this server is; waits until its private address is there.
set -eu
told() { curl -sf --max-time 5 "http://169.254.169.254/hetzner/v1/metadata/$1"; }
wanted=$1
tries=60
while [ "$tries" -gt 0 ]; do
  tries=$((tries - 1))
  id=$(told instance-id) || id=
  address=
  if [ "$wanted" = private ]; then
    address=$(told private-networks | sed -n 's/^[- ]*ip: *//p' | head -n 1)
    [ -n "$address" ] && ip -4 addr show | grep -qF " $address/" || id=
  fi
  if [ -n "$id" ]; then
    printf 'id=%s\\naddress=%s\\n' "$id" "$address" > /run/growth
    exit 0
  fi
  sleep 5
done
echo "no answer, or no private address, after 60 tries" >&2
exit 1
"""


class File(msgspec.Struct, frozen=True):
    """A file on the server."""

    path: str
    content: str
    permissions: str = "0600"


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind of bootstrap adds: its files, and its commands after everything is prepared."""

    files: tuple[File, ...]
    commands: tuple[str, ...]


def cloud_config(joining: JoiningServer, steps: Steps) -> str:
    """The user data."""
    closes = joining.bootstrap.metadata_access is MetadataAccess.CLOSED
    files = [File(PREPARE_PATH, PREPARE, "0700"), *steps.files]
    if closes:
        files.append(File(f"/etc/systemd/system/{CLOSING_UNIT}", CLOSING, "0644"))
    wanted = "private" if joining.is_in_private_network else "any"
    # One script, so that what fails ends the rest: cloud-init itself would go on.
    script = ["set -eu", *_closing(closing=closes), f"{PREPARE_PATH} {wanted}", *steps.commands]
    document = {
        "hostname": joining.order.name,
        "preserve_hostname": False,
        "write_files": [msgspec.to_builtins(file) for file in files],
        "runcmd": [["sh", "-c", "\n".join(script)]],
    }
    return f"#cloud-config\n{cloud_config_text(document)}"


def cloud_config_text(document: Any) -> str:
    """YAML with texts of several lines as they are."""
    return readable_yaml(document, width=1000)


def _closing(*, closing: bool) -> Iterator[str]:
    if closing:
        yield "systemctl daemon-reload"
        yield f"systemctl enable --now {CLOSING_UNIT}"
