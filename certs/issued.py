"""A certificate as the rule sees it: its times, its names, and the key that signed it."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID
from typing_extensions import override

from certs.wanted import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

_USAGES = {
    Usage.SERVER: ExtendedKeyUsageOID.SERVER_AUTH,
    Usage.CLIENT: ExtendedKeyUsageOID.CLIENT_AUTH,
}


class PrivateKey:
    """A key in PEM that isn't shown in logs, errors or test output."""

    def __init__(self, pem: bytes) -> None:
        self._pem = pem

    def reveal(self) -> bytes:
        """The key, for signing and storing."""
        return self._pem

    @override
    def __repr__(self) -> str:
        return "PrivateKey(...)"


class Issued(msgspec.Struct, frozen=True):
    """A certificate."""

    pem: bytes
    begin: datetime
    end: datetime
    key_id: str
    """The identifier of its own key."""
    authority_id: str
    """The identifier of the key that signed it."""
    names: frozenset[str]
    usages: frozenset[Usage]


class Pair(msgspec.Struct, frozen=True):
    """A certificate and its key."""

    certificate: Issued
    key: PrivateKey


def read_pair(certificate: bytes, key: bytes) -> Pair | None:
    """The pair in these bytes; None if they are anything else, or don't belong together."""
    issued = read_certificate(certificate)
    if issued is None or not _belongs(key, issued):
        return None
    return Pair(issued, PrivateKey(key))


def read_certificate(pem: bytes) -> Issued | None:
    """The first certificate in these bytes, if there is one."""
    return next(iter(read_certificates(pem)), None)


# Each round reads the same few certificates. Only public data is cached.
@functools.lru_cache(maxsize=64)
def read_certificates(pem: bytes) -> tuple[Issued, ...]:
    """All certificates in these bytes; none if they are anything else."""
    try:
        return tuple(_issued(found) for found in x509.load_pem_x509_certificates(pem))
    except ValueError:
        return ()


def _issued(found: x509.Certificate) -> Issued:
    return Issued(
        pem=found.public_bytes(Encoding.PEM),
        begin=found.not_valid_before_utc,
        end=found.not_valid_after_utc,
        key_id=_key_id(found),
        authority_id=_authority_id(found),
        names=frozenset(_names(found)),
        usages=frozenset(_usages(found)),
    )


def _key_id(found: x509.Certificate) -> str:
    try:
        identifier = found.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        identifier = x509.SubjectKeyIdentifier.from_public_key(found.public_key())
    return identifier.digest.hex()


def _authority_id(found: x509.Certificate) -> str:
    try:
        identifier = found.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)
    except x509.ExtensionNotFound:
        return ""
    return (identifier.value.key_identifier or b"").hex()


def _names(found: x509.Certificate) -> Iterator[str]:
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    yield from names.get_values_for_type(x509.DNSName)
    yield from map(str, names.get_values_for_type(x509.IPAddress))


def _usages(found: x509.Certificate) -> Iterator[Usage]:
    try:
        usages = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    yield from (usage for usage, identifier in _USAGES.items() if identifier in usages)


def _belongs(key: bytes, issued: Issued) -> bool:
    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    # Only keys that can sign with SHA-256 (`make_leaf`).
    if not isinstance(private, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        return False
    own = x509.load_pem_x509_certificate(issued.pem).public_key()
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    return private.public_key().public_bytes(*form) == own.public_bytes(*form)
