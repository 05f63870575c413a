"""Creates certificates; this is the only place that generates keys.

Keys are P-256, because all clients support it and a handshake takes only a millisecond. The
certificates have all extensions that strict clients require (OpenSSL's X509_STRICT, which Python
sets since 3.13): key identifiers, critical basic constraints and key usage, and a leaf's usage.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.issued import Pair, PrivateKey, read_certificate
from certs.wanted import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cryptography.x509.extensions import ExtensionType

_USAGES = {
    Usage.SERVER: ExtendedKeyUsageOID.SERVER_AUTH,
    Usage.CLIENT: ExtendedKeyUsageOID.CLIENT_AUTH,
}


def make_authority(name: str, *, begin: datetime, end: datetime) -> Pair:
    """A new authority, which can sign leaves but no other authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    # A unique name, so that clients can distinguish two authorities while they overlap.
    subject = _named(f"{name} {identifier.digest.hex()[:8]}")
    certificate = (
        _builder(subject, issuer=subject, key=key, begin=begin, end=end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage("key_cert_sign", "crl_sign"), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, SHA256())
    )
    return _pair(certificate, key)


def make_leaf(
    name: str,
    *,
    under: Pair,
    usage: Usage,
    names: Iterable[str],
    begin: datetime,
    end: datetime,
) -> Pair:
    """A new certificate under an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    authority = x509.load_pem_x509_certificate(under.certificate.pem)
    builder = _builder(_named(name), issuer=authority.subject, key=key, begin=begin, end=end)
    for extension, critical in _of_a_leaf(key, under.certificate.key_id, usage, sorted(names)):
        builder = builder.add_extension(extension, critical=critical)
    return _pair(builder.sign(_private(under.key), SHA256()), key)


def _of_a_leaf(
    key: ec.EllipticCurvePrivateKey, authority_id: str, usage: Usage, names: list[str]
) -> Iterable[tuple[ExtensionType, bool]]:
    yield x509.BasicConstraints(ca=False, path_length=None), True
    yield _key_usage("digital_signature"), True
    yield x509.ExtendedKeyUsage([_USAGES[usage]]), False
    yield x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False
    # Copied from the authority's certificate: one made elsewhere may compute it differently.
    yield x509.AuthorityKeyIdentifier(bytes.fromhex(authority_id), None, None), False
    if names:
        yield x509.SubjectAlternativeName([_general_name(name) for name in names]), False


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    *,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    begin: datetime,
    end: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_usage(*usages: str) -> x509.KeyUsage:
    every = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(**{usage: usage in usages for usage in every})


def _private(key: PrivateKey) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    loaded = load_pem_private_key(key.reveal(), password=None)
    assert isinstance(loaded, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey)  # noqa: S101 - a Pair
    return loaded


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    issued = read_certificate(certificate.public_bytes(Encoding.PEM))
    assert issued is not None  # noqa: S101 - it has just been made
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Pair(issued, PrivateKey(pem))
