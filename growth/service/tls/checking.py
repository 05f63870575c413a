"""Validates certificates before they are used, so that no handshake fails because of them.

OpenSSL loads a certificate that has expired or is for the other side of a connection, which the
peer then refuses. And a failed load leaves a context half filled. So the content is checked here,
as bytes, and each error is one line that names the file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from growth.errors import RetryLater

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import (
        PrivateKeyTypes,
        PublicKeyTypes,
    )

    from growth.service.tls.files import Content, Files

SKEW: Final = timedelta(minutes=5)
"""How far the clocks of two machines may differ before a certificate is rejected."""


class CertificateSide(Enum):
    """The side of a connection that uses a certificate; the value is its extended key usage."""

    SERVER = ExtendedKeyUsageOID.SERVER_AUTH
    CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH


class Unusable(RetryLater):
    """The current files can't be used: half-written, mismatched, or expired."""


class Certificate(msgspec.Struct, frozen=True):
    """A valid certificate."""

    subject: str
    fingerprint: str
    """The first half of its SHA-256."""
    not_after: datetime
    """When the first certificate of its chain expires."""


def examined_certificate(
    content: Content, *, files: Files, side: CertificateSide, now: datetime
) -> Certificate:
    """The certificate in this content; raises `Unusable` with the reason."""
    chain = _certificates(content.certificate, place=str(files.certificate))
    _check_pair(chain[0], _key(content.key, place=str(files.key)), files=files)
    for certificate in chain:
        _check_time(certificate, place=str(files.certificate), now=now)
    _check_usage(chain[0], place=str(files.certificate), side=side)
    if files.authorities is not None:
        _certificates(content.authorities, place=str(files.authorities))
    return Certificate(
        subject=_common_name(chain[0]),
        fingerprint=chain[0].fingerprint(hashes.SHA256()).hex()[:32],
        not_after=min(certificate.not_valid_after_utc for certificate in chain),
    )


def _certificates(pem: bytes, *, place: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise Unusable(f"{place}: this is not a certificate in PEM") from None


def _key(pem: bytes, *, place: str) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(pem, password=None)
    except TypeError:
        raise Unusable(f"{place}: the key is encrypted; store it without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        raise Unusable(f"{place}: this is not a private key in PEM") from None


def _check_pair(certificate: x509.Certificate, key: PrivateKeyTypes, *, files: Files) -> None:
    if _bytes_of(certificate.public_key()) != _bytes_of(key.public_key()):
        raise Unusable(f"{files.key}: the key doesn't belong to {files.certificate}")


def _bytes_of(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _check_time(certificate: x509.Certificate, *, place: str, now: datetime) -> None:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if end < now:
        raise Unusable(f"{place}: {_common_name(certificate)} expired at {in_utc(end)}")
    if begin > now + SKEW:
        raise Unusable(f"{place}: {_common_name(certificate)} is not valid before {in_utc(begin)}")


def _check_usage(certificate: x509.Certificate, *, place: str, side: CertificateSide) -> None:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    if side.value not in usage and ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE not in usage:
        raise Unusable(f"{place}: the certificate is not for a {side.name.lower()}")


def _common_name(certificate: x509.Certificate) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else "the certificate"


def in_utc(moment: datetime) -> str:
    """A moment as people are told it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
