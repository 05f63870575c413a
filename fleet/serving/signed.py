"""Agents with tokens of an identity provider: JSON Web Tokens, checked by its public keys.

Only two algorithms are accepted, each with keys of its own kind: a token can't choose a weaker way.
Roles and the cluster are where agents of KAS have them.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from fleet.reports.access import CLUSTER_CLAIM, AgentClaims
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

LEEWAY: Final = 30
"""Seconds that clocks may differ."""
_SHORTEST_MODULUS: Final = 2048
_COORDINATE: Final = 32
"""Bytes of each of the two numbers of a signature with P-256."""


def keys_in(text: str) -> dict[str, PublicKey]:
    """The keys of a JSON Web Key Set by their ids. Those of other kinds are left out."""
    try:
        told = json.loads(text)["keys"]
        keys = {str(each["kid"]): _key(each) for each in told if "kid" in each}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Misconfigured("the file isn't a JSON Web Key Set") from None
    return {name: key for name, key in keys.items() if key is not None}


def _key(told: Mapping[str, Any]) -> PublicKey | None:
    match told.get("kty"), told.get("crv"):
        case "RSA", _:
            key = rsa.RSAPublicNumbers(_number(told["e"]), _number(told["n"])).public_key()
            return key if key.key_size >= _SHORTEST_MODULUS else None
        case "EC", "P-256":
            x, y = _number(told["x"]), _number(told["y"])
            return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        case _:
            return None


class SignedBearers:
    """Reads tokens that one of the keys has signed."""

    def __init__(
        self, keys: Callable[[], Mapping[str, PublicKey]], *, now: Callable[[], datetime]
    ) -> None:
        self._keys = keys
        self._now = now

    async def claims_of(self, token: str) -> AgentClaims | None:
        """What a token says, if its signature is good and it is valid now."""
        try:
            told = _verified(token, self._keys())
        except (ValueError, KeyError, TypeError, RecursionError, InvalidSignature):
            return None
        return _claims(told) if _is_valid(told, self._now().timestamp()) else None


def _verified(token: str, keys: Mapping[str, PublicKey]) -> dict[str, Any]:
    """The payload of a token. Raises if anything is wrong with it."""
    header, payload, signature = token.split(".")
    told = _object(header)
    key = keys[told["kid"]]
    signed, proof = f"{header}.{payload}".encode(), _bytes(signature)
    match told["alg"], key:
        case "RS256", rsa.RSAPublicKey():
            key.verify(proof, signed, padding.PKCS1v15(), hashes.SHA256())
        case "ES256", ec.EllipticCurvePublicKey():
            key.verify(_two_numbers(proof), signed, ec.ECDSA(hashes.SHA256()))
        case _:
            raise ValueError("its algorithm isn't the one of its key")
    return _object(payload)


def _is_valid(told: Mapping[str, Any], now: float) -> bool:
    begins, ends = told.get("nbf", 0), told.get("exp")
    if not isinstance(ends, int | float) or not isinstance(begins, int | float):
        return False
    return bool(begins - LEEWAY <= now < ends + LEEWAY)


def _claims(told: Mapping[str, Any]) -> AgentClaims:
    issuer, cluster = told.get("iss"), told.get(CLUSTER_CLAIM)
    access = told.get("realm_access")
    roles = access.get("roles") if isinstance(access, dict) else None
    return AgentClaims(
        issuer=issuer if isinstance(issuer, str) else None,
        roles=frozenset(each for each in roles if isinstance(each, str))
        if isinstance(roles, list)
        else frozenset(),
        cluster=cluster if isinstance(cluster, str) else None,
    )


def _object(text: str) -> dict[str, Any]:
    told = json.loads(_bytes(text))
    if not isinstance(told, dict):
        raise TypeError("it isn't an object")
    return told


def _two_numbers(proof: bytes) -> bytes:
    if len(proof) != 2 * _COORDINATE:
        raise ValueError("the signature has another length")
    first, second = proof[:_COORDINATE], proof[_COORDINATE:]
    return utils.encode_dss_signature(int.from_bytes(first), int.from_bytes(second))


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text))


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
