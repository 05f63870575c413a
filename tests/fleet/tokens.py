"""Tokens of an identity provider of ours, and its public keys."""

from __future__ import annotations

import base64
import functools
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from fleet.reports.access import AGENT_ROLE, CLUSTER_CLAIM
from tests.fleet.building import NOW

ISSUER = "https://identity.example"
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@functools.cache
def a_key(kid: str) -> Private:
    """A key of its own for each id. Those whose id begins with `rsa` are RSA keys."""
    if kid.startswith("rsa"):
        bits = int(kid.partition("-")[2] or 2048)
        return rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return ec.generate_private_key(ec.SECP256R1())


def key_set(*kids: str) -> str:
    return json.dumps({"keys": [{"kid": kid, **_public(a_key(kid))} for kid in kids]})


def a_token(kid: str = "ec", *, header: dict[str, Any] | None = None, **claims: Any) -> str:
    key = a_key(kid)
    told = {"kid": kid, "alg": "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"}
    payload = {
        "iss": ISSUER,
        "exp": int(NOW.timestamp()) + 300,
        "realm_access": {"roles": ["offline", AGENT_ROLE]},
        CLUSTER_CLAIM: "a",
        **claims,
    }
    signed = f"{_text({**told, **(header or {})})}.{_text(payload)}"
    return f"{signed}.{_base64(_signature(key, signed.encode()))}"


def _signature(key: Private, signed: bytes) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    first, second = utils.decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
    return first.to_bytes(32) + second.to_bytes(32)


def _public(key: Private) -> dict[str, str]:
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.public_key().public_numbers()
        return {"kty": "RSA", "n": _number(numbers.n), "e": _number(numbers.e)}
    point = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "x": _number(point.x), "y": _number(point.y)}


def _number(value: int) -> str:
    return _base64(value.to_bytes((value.bit_length() + 7) // 8))


def _text(told: dict[str, Any]) -> str:
    return _base64(json.dumps(told).encode())


def _base64(told: bytes) -> str:
    return base64.urlsafe_b64encode(told).decode().rstrip("=")
