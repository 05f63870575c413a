"""Certificates for tests of TLS, good and bad ones, and the files that they lie in."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from pathlib import Path

LONG = timedelta(days=1)
LOOPBACK = x509.SubjectAlternativeName(
    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes

    def write_to(self, folder: Path, *, authorities: bytes = b"") -> None:
        """As a person copies it: one file after the other."""
        folder.mkdir(exist_ok=True)
        (folder / "ca.crt").write_bytes(authorities)
        (folder / "tls.crt").write_bytes(self.certificate)
        (folder / "tls.key").write_bytes(self.key)


class Authority:
    """A CA of a test."""

    def __init__(self, name: str = "a test") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _dated(self._name, self._key, begin=-LONG, end=LONG).issuer_name(self._name)
        ca = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = ca.sign(self._key, SHA256()).public_bytes(Encoding.PEM)

    def leaf(
        self,
        name: str = "leaf",
        *,
        begin: timedelta = -LONG,
        end: timedelta = LONG,
        usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
        names: x509.SubjectAlternativeName = LOOPBACK,
    ) -> Pair:
        """A certificate under this CA, usually for loopback."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _dated(subject, key, begin=begin, end=end).issuer_name(self._name)
        builder = builder.add_extension(names, critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        certificate = builder.sign(self._key, SHA256()).public_bytes(Encoding.PEM)
        return Pair(certificate, pem(key))

    def client(self, name: str = "client", *, end: timedelta = LONG) -> Pair:
        """What a client shows."""
        return self.leaf(name, end=end, usage=ExtendedKeyUsageOID.CLIENT_AUTH)


def weak() -> Pair:
    """With a key that is too short for any peer."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "weak")])
    builder = _dated(name, key, begin=-LONG, end=LONG).issuer_name(name)
    return Pair(builder.sign(key, SHA256()).public_bytes(Encoding.PEM), pem(key))


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, *, password: str = "") -> bytes:
    lock = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)


async def mount(folder: Path, pair: Pair, *, authorities: bytes = b"") -> None:
    """As the kubelet does it: a folder for each version, and one link that is swapped."""
    await asyncio.to_thread(_mount, folder, pair, authorities)


def _mount(folder: Path, pair: Pair, authorities: bytes) -> None:
    version = folder / f"..{os.urandom(4).hex()}"
    folder.mkdir(exist_ok=True)
    pair.write_to(version, authorities=authorities)
    link = folder / "..data_tmp"
    link.symlink_to(version.name)
    link.replace(folder / "..data")
    for name in ("tls.crt", "tls.key", "ca.crt"):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")


def _dated(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey,
    *,
    begin: timedelta,
    end: timedelta,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begin)
        .not_valid_after(now + end)
    )
