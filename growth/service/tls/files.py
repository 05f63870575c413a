"""Where a certificate lies: the files of a mounted Secret of type kubernetes.io/tls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from typing_extensions import override

from growth.service.settings import Listed

CERTIFICATE = "tls.crt"
KEY = "tls.key"
AUTHORITIES = "ca.crt"

TlsFolder = Annotated[Path | None, Listed("TLS", "FOLDER")]
"""A setting that names such a folder; each process says what it serves with it."""


class Content(NamedTuple):
    """What stood in the files at one moment; perhaps half of one pair and half of another."""

    certificate: bytes
    key: bytes
    authorities: bytes
    """Empty where no authority is asked for."""

    @override
    def __repr__(self) -> str:
        """Without the key."""
        return f"Content of {len(self.certificate)} bytes"


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of one certificate."""

    certificate: Path
    """PEM: our own certificate first, then what leads from it to the authority."""
    key: Path
    authorities: Path | None
    """PEM: under whom the other side's certificate has to be signed. None: it shows none."""

    @classmethod
    def pair(cls, folder: Path) -> Self:
        """For a server that anybody may call."""
        return cls(certificate=folder / CERTIFICATE, key=folder / KEY, authorities=None)

    @classmethod
    def mutual(cls, folder: Path) -> Self:
        """For both sides of a connection on which each has to show its certificate."""
        return cls(
            certificate=folder / CERTIFICATE, key=folder / KEY, authorities=folder / AUTHORITIES
        )

    def read(self) -> Content:
        """What stands there now."""
        return Content(
            certificate=self.certificate.read_bytes(),
            key=self.key.read_bytes(),
            authorities=self.authorities.read_bytes() if self.authorities else b"",
        )
