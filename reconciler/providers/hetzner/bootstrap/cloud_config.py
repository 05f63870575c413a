"""User data for cloud-init. It is built as data and not as text, so no value can break out of it.

Two steps are the same for every kind. Before the server joins, it waits for its private address and
records it, because a node that registers with another address is unreachable. And the metadata
address, which serves the user data with the join token, is closed to forwarded traffic, and so to
pods; the host and pods on the host network keep access. A routing rule does this, because every
image supports it and no network plugin bypasses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.hetznernodeclass import MetadataAccess
from growth.readable_yaml import readable_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

# Without --max-time, a request whose packets are dropped takes two minutes to fail. With -S, the
# server's log says why it failed.
FETCH: Final = "curl -sSfL --retry 5 --max-time 60"
"""The command that downloads a small file."""
PREPARE_PATH: Final = "/usr/local/lib/growth/prepare"
CLOSING_UNIT: Final = "growth-close-metadata.service"
# systemd-networkd deletes foreign rules, except those marked as coming from the kernel.
_HOST_MAY: Final = "priority 90 iif lo to 169.254.169.254/32 lookup main protocol kernel"
_OTHERS_MAY_NOT: Final = "priority 91 to 169.254.169.254/32 prohibit protocol kernel"
# The `-` ignores errors: if one rule is gone already, the other one must still be deleted. With
# default dependencies, a shutdown would stop the unit and open the address while pods still run.
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
# Asks Hetzner who this server is; waits until its address in its private network is there.
set -eu
if ! command -v curl > /dev/null; then
  echo "this image has no curl, without which no server joins: use another image" >&2
  exit 1
fi
told() { curl -sf --max-time 5 "http://169.254.169.254/hetzner/v1/metadata/$1"; }
wanted=$1
tries=60
while [ "$tries" -gt 0 ]; do
  tries=$((tries - 1))
  id=$(told instance-id) || id=
  address=
  if [ "$wanted" != any ]; then
    # The server may be in several networks, and nothing promises their order.
    address=$(told private-networks | awk -v wanted="$wanted" '
      /^-/ { ip = number = "" }
      { sub(/^- */, "") }
      $1 == "ip:" { ip = $2 }
      $1 == "network_id:" { number = $2 }
      number == wanted && ip != "" { print ip; exit }
    ')
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
    """What a kind of bootstrap adds: files, and commands that run after the common steps."""

    files: tuple[File, ...]
    commands: tuple[str, ...]


def cloud_config(joining: JoiningServer, steps: Steps) -> str:
    """Render the user data."""
    closes = joining.bootstrap.metadata_access is MetadataAccess.CLOSED
    files = [File(PREPARE_PATH, PREPARE, "0700"), *steps.files]
    if closes:
        files.append(File(f"/etc/systemd/system/{CLOSING_UNIT}", CLOSING, "0644"))
    wanted = "any" if joining.network is None else joining.network
    # One script, so that a failure stops it: cloud-init would run the other commands anyway.
    script = ["set -eu", *_closing(closing=closes), f"{PREPARE_PATH} {wanted}", *steps.commands]
    document = {
        "hostname": joining.order.name,
        "preserve_hostname": False,
        "write_files": [msgspec.to_builtins(file) for file in files],
        "runcmd": [["sh", "-c", "\n".join(script)]],
    }
    return f"#cloud-config\n{cloud_config_text(document)}"


def cloud_config_text(document: Any) -> str:
    """YAML that keeps texts of several lines readable."""
    return readable_yaml(document, width=1000)


def _closing(*, closing: bool) -> Iterator[str]:
    if closing:
        yield "systemctl daemon-reload"
        yield f"systemctl enable --now {CLOSING_UNIT}"
