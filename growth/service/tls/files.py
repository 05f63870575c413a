"""The files of a certificate, as in a mounted Secret of type kubernetes.io/tls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from typing_extensions import override

from growth.service.settings import Listed

CERTIFICATE = "tls.crt"
KEY = "tls.key"
AUTHORITIES = "ca.crt"
READS = 3
"""More swaps than that in a row are not a kubelet's."""

TlsFolder = Annotated[Path | None, Listed("TLS", "FOLDER")]
"""A setting with such a folder; each process describes its use."""


class Content(NamedTuple):
    """The content of the files at one moment; the parts may not match."""

    certificate: bytes
    key: bytes
    authorities: bytes
    """Empty if there are no authorities."""

    @override
    def __repr__(self) -> str:
        """Without the key."""
        return f"Content of {len(self.certificate)} bytes"


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of one certificate."""

    certificate: Path
    """PEM: our certificate first, then the chain to its authority."""
    key: Path
    authorities: Path | None
    """PEM: the authorities of the other side's certificate. None: it needs no certificate."""

    @classmethod
    def pair(cls, folder: Path) -> Self:
        """The files of a server that accepts any client."""
        return cls(certificate=folder / CERTIFICATE, key=folder / KEY, authorities=None)

    @classmethod
    def mutual(cls, folder: Path) -> Self:
        """The files of either side of a connection with mutual TLS."""
        return cls(
            certificate=folder / CERTIFICATE, key=folder / KEY, authorities=folder / AUTHORITIES
        )

    def read(self) -> Content:
        """Read the files, all of one version.

        The kubelet swaps the files of a Secret in one step. A swap between two reads would pair the
        old certificate with the new key, so the files are read until they are the same twice.
        """
        content = self._at_once()
        for _ in range(READS):
            again = self._at_once()
            if again == content:
                break
            content = again
        return content

    def _at_once(self) -> Content:
        return Content(
            certificate=self.certificate.read_bytes(),
            key=self.key.read_bytes(),
            authorities=self.authorities.read_bytes() if self.authorities else b"",
        )
