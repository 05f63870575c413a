"""Who a candidate is, and when an earlier run of it is proven dead.

A holder is `name_place_run`. `run` is new with every start, so two live processes never share an
identity, however they are named. A Lease held by an earlier run could therefore be taken back only
after its whole duration, unless that run is *proven* dead; and the kernel can prove it: an abstract
socket belongs to one process of a network namespace at a time and is given back with the process,
even after kill -9. `place` names the boot and the network namespace, and is written only by a
process that owns the socket of its name there. So whoever owns that socket now knows that every
holder with the same name and place has ended. A stopped process still owns its socket, a second
copy started by mistake gets no place, and where there is no proof (another node, a new pod, no
Linux) the Lease is simply waited out.

A restarted container finds its place again, because its pod keeps the network namespace. The number
of a namespace may be used again after the namespace is gone, but then its processes are gone too.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import socket
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterator

BOOT = Path("/proc/sys/kernel/random/boot_id")
NETWORK = Path("/proc/self/ns/net")
PLACE_LENGTH = 12
NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,126}[A-Za-z0-9])?")


class Identity(msgspec.Struct, frozen=True):
    """One run of one candidate."""

    name: str
    run: str
    place: str | None = None

    @property
    def text(self) -> str:
        """As the Lease names its holder."""
        return "_".join(part for part in (self.name, self.place, self.run) if part)

    def may_take_back(self, holder: str) -> bool:
        """Whether the holder is this run, or an earlier one that has surely ended."""
        earlier = self.place is not None and holder.startswith(f"{self.name}_{self.place}_")
        return earlier or holder == self.text


@contextlib.contextmanager
def this_run(name: str, *, lease: str) -> Iterator[Identity]:
    """The identity of this process for one Lease; its place is ours until the block ends.

    Give it a name that a restart keeps, such as the pod's.
    """
    if not NAME.fullmatch(name):
        raise Misconfigured(
            f'leader election: the identity "{name}" must be letters, digits, "-", "_" and "."'
        )
    with _place(f"{lease} {name}") as place:
        yield Identity(name, uuid.uuid4().hex[:12], place)


@contextlib.contextmanager
def _place(what: str) -> Iterator[str | None]:
    """The place where nobody else is called this, ours until the block ends; None without proof."""
    try:
        here = f"{BOOT.read_text().strip()} {NETWORK.stat().st_ino} {what}"
    except OSError:
        yield None
        return
    place = hashlib.sha256(here.encode()).hexdigest()[:PLACE_LENGTH]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as claim:
        yield place if _bound(claim, what) else None


def _bound(claim: socket.socket, what: str) -> bool:
    # A leading zero byte makes the name abstract: no file, and the kernel frees it.
    try:
        claim.bind(b"\0growth " + hashlib.sha256(what.encode()).hexdigest().encode())
    except OSError:
        return False
    return True
