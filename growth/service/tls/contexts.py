"""OpenSSL contexts: a new one for each content, and a permanent one for a server's socket.

A context in use is never loaded again: if that fails half-way, the context and all later handshakes
are broken. So each content gets a new context. The context of a server's socket has no certificate
at all; a callback gives each handshake the newest context. OpenSSL also calls it for clients that
send no server name, such as clients that connect to an IP address.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, assert_never

from growth.service.tls.checking import CertificateSide, Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.service.tls.files import Content, Files

    Newest = Callable[[], ssl.SSLContext | None]


def fresh(content: Content, *, files: Files, side: CertificateSide) -> ssl.SSLContext:
    """A context with exactly this content; raises `Unusable` if the files have changed."""
    match side:
        case CertificateSide.SERVER:
            context = _server(files)
        case CertificateSide.CLIENT:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        case _:
            assert_never(side)
    try:
        # Without this argument, OpenSSL would ask for a password on the terminal.
        context.load_cert_chain(files.certificate, files.key, password="")
        if files.authorities is not None:
            context.load_verify_locations(files.authorities)
    except (OSError, ValueError) as error:
        raise Unusable(f"{files.certificate}: OpenSSL refuses it: {error}") from None
    # OpenSSL reads files, not bytes. If they are unchanged, it has read what was checked before.
    if files.read() != content:
        raise Unusable(f"{files.certificate}: it is being written")
    return context


def listening(newest: Newest, files: Files) -> ssl.SSLContext:
    """The permanent context for a server's socket."""
    context = _server(files)

    def hand_over(
        handshake: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> int | None:
        found = newest()
        if found is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        handshake.context = found
        return None

    context.sni_callback = hand_over
    return context


def _server(files: Files) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # A resumed session isn't verified again, so it would survive a change of authorities. With TLS
    # 1.2, Python can't prevent that: besides tickets, there is a session cache.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    if files.authorities is None:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    else:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
    return context
