"""Where a server listens: `HOST:PORT`, `[::1]:PORT`, or `:PORT` for every interface."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from typing_extensions import override

_FORM = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9.-]*)):(?P<port>[0-9]{1,5})")
_LARGEST_PORT = 65535


@dataclass(frozen=True)
class Address:
    """A place to listen at. No host means every interface, IPv4 and IPv6; port 0 is any free."""

    host: str
    port: int

    @override
    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read what a person wrote."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError("must be HOST:PORT, or :PORT for every interface")
        port = int(form["port"])
        if port > _LARGEST_PORT:
            raise ValueError(f"must have a port of at most {_LARGEST_PORT}")
        return cls(host=form["six"] or form["host"] or "", port=port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
