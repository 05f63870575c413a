"""OpenSSL contexts: a fresh one for each content, and the lasting one that a server listens with.

A context that serves is never loaded again: a load that fails half-way leaves it broken, and every
handshake after it. So each content gets a context of its own, and a server's listening context has
no certificate at all: a callback hands every handshake the newest one. OpenSSL calls it for clients
that send no server name too (it is then None), as those do that call an address.
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
    """A context with exactly this content, or `Unusable` when the files are another one by now."""
    match side:
        case CertificateSide.SERVER:
            context = _server(files)
        case CertificateSide.CLIENT:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        case _:
            assert_never(side)
    try:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(files.certificate, files.key, password="")
        if files.authorities is not None:
            context.load_verify_locations(files.authorities)
    except (OSError, ValueError) as error:
        raise Unusable(f"{files.certificate}: OpenSSL refuses it: {error}") from None
    # OpenSSL reads files, not bytes: what it has read is what was examined if nothing has changed.
    if files.read() != content:
        raise Unusable(f"{files.certificate}: it is being written right now")
    return context


def listening(newest: Newest, files: Files) -> ssl.SSLContext:
    """The context for a server's socket, which lasts while others come and go behind it."""
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
    # A session that is resumed is not verified again: it would outlive a swap of authorities.
    # In TLS 1.2 Python can't switch that off: besides tickets there is a cache of sessions.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    if files.authorities is None:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    else:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
    return context
