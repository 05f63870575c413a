"""The identity of a candidate, and the proof that an earlier run of it has ended.

A holder is `name_place_run`. `run` is new with each start, so two live processes never share an
identity, even with the same name. So a Lease of an earlier run could be taken only after its whole
duration, unless that run has *provably* ended. The kernel can prove it: an abstract socket belongs
to one process of a network namespace at a time, and is freed when the process ends, even after
kill -9. `place` identifies the boot and the network namespace. Only a process that owns the socket
with its name there writes a place. So a process that owns this socket knows that all other holders
with the same name and place have ended. A stopped process still owns its socket, and a second copy
that was started by mistake gets no place. Without proof (another node, a new pod, no Linux), the
candidate waits for the Lease to expire.

A restarted container gets the same place, because its pod keeps the network namespace. The number
of a namespace may be reused after the namespace is gone, but then its processes are gone too.
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
        """The holder identity in the Lease."""
        return "_".join(part for part in (self.name, self.place, self.run) if part)

    def may_take_back(self, holder: str) -> bool:
        """Whether the holder is this run, or an earlier run that has provably ended."""
        earlier = self.place is not None and holder.startswith(f"{self.name}_{self.place}_")
        return earlier or holder == self.text


@contextlib.contextmanager
def this_run(name: str, *, lease: str) -> Iterator[Identity]:
    """The identity of this process for one Lease; it owns its place until the block ends.

    The name should survive a restart, like that of the pod.
    """
    if not NAME.fullmatch(name):
        raise Misconfigured(
            f'leader election: the identity "{name}" must be letters, digits, "-", "_" and "."'
        )
    with _place(f"{lease} {name}") as place:
        yield Identity(name, uuid.uuid4().hex[:12], place)


@contextlib.contextmanager
def _place(what: str) -> Iterator[str | None]:
    """The place, if this process owns the socket there; None without that proof."""
    try:
        here = f"{BOOT.read_text().strip()} {NETWORK.stat().st_ino} {what}"
    except OSError:
        yield None
        return
    place = hashlib.sha256(here.encode()).hexdigest()[:PLACE_LENGTH]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as claim:
        yield place if _bound(claim, what) else None


def _bound(claim: socket.socket, what: str) -> bool:
    # A leading zero byte makes the socket abstract: it has no file, and the kernel frees it.
    try:
        claim.bind(b"\0growth " + hashlib.sha256(what.encode()).hexdigest().encode())
    except OSError:
        return False
    return True
