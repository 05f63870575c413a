"""Host ports: two pods can't use the same one on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

# The meaning of an empty address. To the scheduler, "::" is an address like any other.
_EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - compared, never bound


class ContainerPort(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A port of a container; only its host port matters for scheduling."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = "TCP"


class HostPort(NamedTuple):
    """A port of a node; 0.0.0.0 overlaps with all addresses."""

    protocol: str
    port: int
    address: str

    def overlaps(self, other: HostPort) -> bool:
        """Whether the two can't be used at the same time."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _EVERY_ADDRESS in {self.address, other.address}

    @property
    def text(self) -> str:
        """For people: 8080/TCP, or 127.0.0.1:8080/TCP."""
        address = "" if self.address == _EVERY_ADDRESS else f"{self.address}:"
        return f"{address}{self.port}/{self.protocol}"


def host_ports(ports: Iterable[ContainerPort]) -> tuple[HostPort, ...]:
    """The host ports among the ports of containers."""
    return tuple(
        HostPort(port.protocol or "TCP", port.host_port, port.host_ip or _EVERY_ADDRESS)
        for port in ports
        if port.host_port > 0
    )


def taken(wanted: Iterable[HostPort], in_use: Iterable[HostPort]) -> HostPort | None:
    """The first wanted port that is already in use."""
    used = tuple(in_use)
    return next((port for port in wanted if any(port.overlaps(other) for other in used)), None)
