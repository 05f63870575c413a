"""What a kubelet sends that wants its first certificate, and what others might."""

from __future__ import annotations

import base64
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from growth.api.joining import SIGNER

USAGES: Final = ("digital signature", "client auth")


def pem_for(
    common: str,
    *,
    organizations: tuple[str, ...] = ("system:nodes",),
    unit: str = "",
    names: tuple[str, ...] = (),
) -> bytes:
    """A request for a certificate in PEM."""
    subject = [
        *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations),
        *(
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, each)
            for each in filter(None, [unit])
        ),
        x509.NameAttribute(NameOID.COMMON_NAME, common),
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(each) for each in names])
        builder = builder.add_extension(alternatives, critical=False)
    signed = builder.sign(ec.generate_private_key(ec.SECP256R1()), SHA256())
    return signed.public_bytes(Encoding.PEM)


def signing_request(name: str, pem: bytes, usages: tuple[str, ...] = USAGES) -> dict[str, Any]:
    """The object that carries it."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "request": base64.b64encode(pem).decode(),
            "signerName": SIGNER,
            "usages": list(usages),
        },
    }
