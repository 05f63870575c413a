"""The TLS context for the API server: the CA that we trust, and our client certificate.

CAs and client certificates are replaced while a process runs, like tokens. A new context is created
only if the files have changed, because each context starts with new connections. The old one stays
in use while the files can't be read, or don't match because they are just being written.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from growth.errors import Misconfigured

if TYPE_CHECKING:
    import ssl

    from growth.kube.kubeconfig import Access


class Tls:
    """The newest usable context. Creating one reads files, so use a thread."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._made_of = self._files()
        self.context = self._made()

    def renew(self) -> None:
        """Create a new context if any of the files has changed."""
        # `_made_of` is set last: if the new files don't match each other yet, the error leaves it
        # as it was, and the next call tries again.
        found = self._files()
        if found != self._made_of:
            self.context = self._made()
            self._made_of = found

    def _files(self) -> bytes:
        configuration = self._access.configuration
        named = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
        try:
            # Digests, so that the private key doesn't stay in memory longer than needed.
            contents = (Path(name).read_bytes() if name else b"" for name in named)
            return b"".join(hashlib.sha256(each).digest() for each in contents)
        except OSError as error:
            raise self._unusable(error) from None

    def _made(self) -> ssl.SSLContext:
        from kubernetes.aio.client.rest import (  # noqa: PLC0415 - a second of import
            RESTClientObject,
        )

        try:
            return RESTClientObject(self._access.configuration).ssl_context
        except (OSError, ValueError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> Misconfigured:
        return Misconfigured(
            f"{self._access.origin}: its certificates can't be loaded ({type(error).__name__});"
            " check the CA, client certificate and key that it names"
        )
