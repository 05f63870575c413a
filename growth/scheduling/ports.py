"""Ports that a pod takes on the node itself: two pods cannot listen on the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

# What an empty address means; the IPv6 form is an address like any other to the scheduler.
_EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - compared, never bound


class ContainerPort(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A port of a container; only one with a host port concerns the node."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = "TCP"


class HostPort(NamedTuple):
    """A port of a node. Every address overlaps with each single one."""

    protocol: str
    port: int
    address: str

    def overlaps(self, other: HostPort) -> bool:
        """Whether both cannot be taken at once."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _EVERY_ADDRESS in {self.address, other.address}

    @property
    def text(self) -> str:
        """For people: 8080/TCP, or 127.0.0.1:8080/TCP."""
        address = "" if self.address == _EVERY_ADDRESS else f"{self.address}:"
        return f"{address}{self.port}/{self.protocol}"


def host_ports(ports: Iterable[ContainerPort]) -> tuple[HostPort, ...]:
    """The ports that are taken on the node."""
    return tuple(
        HostPort(port.protocol or "TCP", port.host_port, port.host_ip or _EVERY_ADDRESS)
        for port in ports
        if port.host_port > 0
    )


def taken(wanted: Iterable[HostPort], in_use: Iterable[HostPort]) -> HostPort | None:
    """The first wanted port that is in use already."""
    used = tuple(in_use)
    return next((port for port in wanted if any(port.overlaps(other) for other in used)), None)
