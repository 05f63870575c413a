"""The address of a server: `HOST:PORT`, `[::1]:PORT`, or `:PORT` for all interfaces."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from typing_extensions import override

_FORM = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9.-]*)):(?P<port>[0-9]{1,5})")
_LARGEST_PORT = 65535


@dataclass(frozen=True)
class Address:
    """An address to listen on. No host means all interfaces; port 0 means any free port."""

    host: str
    port: int

    @override
    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError("must be HOST:PORT, or :PORT for all interfaces")
        port = int(form["port"])
        if port > _LARGEST_PORT:
            raise ValueError(f"must have a port of at most {_LARGEST_PORT}")
        return cls(host=form["six"] or form["host"] or "", port=port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on this host."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    # A socket for both families shows IPv4 addresses as ::ffff:127.0.0.1.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
