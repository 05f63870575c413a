"""Would every connection have worked? A look back over all that was ever shown and trusted.

A change reaches a server, or whoever calls it, somewhen within the overlap. So what somebody showed
up to an overlap ago may meet what somebody else trusted up to an overlap ago; each such meeting has
to work. What clocks may differ by comes off the overlap. What is broken or gone is used by nobody:
processes go on with what they had.
"""

from __future__ import annotations

import base64
import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from certs.issued import read_certificates, read_pair
from certs.reading import BUNDLE, CERTIFICATE, KEY
from certs.wanted import EXTENDER, POLICY, RECONCILER, WEBHOOKS
from tests.certs.api import WEBHOOKS as CONFIGURATION
from tests.certs.api import bundle_of, secret_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.certs.api import Api, Object


class Span(NamedTuple):
    """Something that was to be found from one time to another."""

    content: bytes
    begin: datetime
    end: datetime

    def meets(self, other: Span) -> bool:
        """Whether both can be in use at one time, each late by up to an overlap."""
        late = POLICY.overlap - 2 * POLICY.skew
        return self.begin <= other.end + late and other.begin <= self.end + late


def broken_meetings(api: Api) -> list[str]:
    """Every pair of shown and trusted that could meet and would fail."""
    return [
        f"{leaf} shown from {shown.begin} to {shown.end}, trust from {held.begin} to {held.end}"
        for leaf, trust_path, trust in MEETINGS
        for shown in _spans(api, secret_path(leaf), _certificate)
        for held in _spans(api, trust_path, trust)
        if shown.meets(held) and not trusted(shown.content, held.content)
    ]


def run_out(api: Api) -> list[str]:
    """Every leaf that was shown after its end, or before its begin."""
    return [
        f"{leaf} shown from {shown.begin} to {shown.end}"
        for leaf in (WEBHOOKS.name, EXTENDER.name, RECONCILER.name)
        for shown in _spans(api, secret_path(leaf), _certificate)
        if not _lives(shown)
    ]


def _certificate(secret: Object) -> bytes:
    return _data(secret).get(CERTIFICATE, b"") if _is_whole(secret) else b""


def _bundle(secret: Object) -> bytes:
    return _data(secret).get(BUNDLE, b"") if _is_whole(secret) else b""


def _is_whole(secret: Object) -> bool:
    data = _data(secret)
    return bool(
        read_pair(data.get(CERTIFICATE, b""), data.get(KEY, b""))
        and read_certificates(data.get(BUNDLE, b""))
    )


def _data(secret: Object) -> dict[str, bytes]:
    return {key: base64.b64decode(text) for key, text in secret["data"].items()}


MEETINGS: tuple[tuple[str, str, Callable[[Object], bytes]], ...] = (
    (WEBHOOKS.name, CONFIGURATION, bundle_of),
    (EXTENDER.name, secret_path(RECONCILER.name), _bundle),
    (RECONCILER.name, secret_path(EXTENDER.name), _bundle),
)


def _spans(api: Api, path: str, content_of: Callable[[Object], bytes]) -> Iterator[Span]:
    """What was in use from a path, and from when to when."""
    found = [
        (at, content)
        for at, where, known in api.history
        if where == path and known is not None and (content := content_of(known))
    ]
    ends = [at for at, _ in found[1:]] + [api.now]
    for (begin, content), end in zip(found, ends, strict=True):
        yield Span(content, begin, end)


@functools.cache
def trusted(leaf: bytes, bundle: bytes) -> bool:
    """Whether a certificate of the bundle has signed the leaf."""
    return any(_signed(_load(leaf), authority) for authority in _load_all(bundle))


def _signed(leaf: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, InvalidSignature):
        return False
    return True


def _lives(shown: Span) -> bool:
    leaf = _load(shown.content)
    begin, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    return begin <= shown.begin.astimezone(UTC) and shown.end <= end


@functools.cache
def _load(pem: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem)


@functools.cache
def _load_all(pem: bytes) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(pem)
