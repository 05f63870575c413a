"""The certificates on the way to the API server: whom we trust, and what we show.

Authorities and client certificates are exchanged while a process lives, as tokens are. What is in
use then stays in use: a new context is made only when the files say something new, since each one
begins with new connections; and the old one is kept while they can't be read, or don't fit together
because they are just being written.
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
    """The newest usable context of one access. Making one reads files: for a thread."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._made_of = self._files()
        self.context = self._made()

    def renew(self) -> None:
        """A new context, if any of the files has changed."""
        found = self._files()
        if found != self._made_of:
            self.context = self._made()
            self._made_of = found

    def _files(self) -> bytes:
        configuration = self._access.configuration
        named = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
        try:
            # A digest, as a private key has no business in memory longer than it must.
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
