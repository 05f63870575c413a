"""Certificates as strict clients want them."""

from __future__ import annotations

import contextlib
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from certs.making import make_authority, make_leaf
from certs.wanted import DAY, WEBHOOKS, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from certs.issued import Pair

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def authority() -> Pair:
    return make_authority("growth-ca", begin=NOW - HOUR, end=NOW + 100 * DAY)


def leaf(under: Pair, usage: Usage = Usage.SERVER) -> Pair:
    names = WEBHOOKS.names("growth-system") if usage is Usage.SERVER else ()
    return make_leaf(
        "leaf", under=under, usage=usage, names=names, begin=NOW - HOUR, end=NOW + 10 * DAY
    )


def load(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.pem)


@pytest.mark.parametrize(
    "name",
    ["growth-webhooks.growth-system.svc", "growth-webhooks", "localhost"],
)
def test_a_verifier_after_the_rules_of_the_web_takes_a_server_under_each_name(name: str) -> None:
    ca = authority()
    policy = PolicyBuilder().store(Store([load(ca)])).time(NOW)

    chain = policy.build_server_verifier(x509.DNSName(name)).verify(load(leaf(ca)), [])

    assert len(chain) == 2


@pytest.mark.parametrize("after", [-2 * HOUR, 11 * DAY])
def test_it_takes_none_before_its_begin_or_after_its_end(after: timedelta) -> None:
    ca = authority()
    policy = PolicyBuilder().store(Store([load(ca)])).time(NOW + after)

    with pytest.raises(VerificationError):
        policy.build_server_verifier(x509.DNSName("localhost")).verify(load(leaf(ca)), [])


def test_it_takes_none_of_another_authority_though_all_names_are_the_same() -> None:
    policy = PolicyBuilder().store(Store([load(authority())])).time(NOW)

    with pytest.raises(VerificationError):
        policy.build_server_verifier(x509.DNSName("localhost")).verify(load(leaf(authority())), [])


def test_every_authority_has_a_name_of_its_own() -> None:
    assert load(authority()).subject != load(authority()).subject


def test_an_authority_signs_leaves_and_nothing_else() -> None:
    extensions = load(authority()).extensions
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)
    usage = extensions.get_extension_for_class(x509.KeyUsage)

    assert constraints.critical
    assert constraints.value == x509.BasicConstraints(ca=True, path_length=0)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert not usage.value.digital_signature


@pytest.mark.parametrize("usage", Usage)
def test_a_leaf_says_what_it_is_for(usage: Usage) -> None:
    ca = authority()
    made = leaf(ca, usage)
    extensions = load(made).extensions
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)

    assert constraints.critical
    assert not constraints.value.ca
    assert extensions.get_extension_for_class(x509.KeyUsage).critical
    assert made.certificate.usages == {usage}
    assert made.certificate.authority_id == ca.certificate.key_id
    key = load_pem_private_key(made.key.reveal(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert key.curve.name == "secp256r1"


def test_openssl_at_its_strictest_shakes_hands_with_both_sides(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    ca = make_authority("growth-ca", begin=now - HOUR, end=now + DAY)
    sides = {
        usage: make_leaf(
            "leaf", under=ca, usage=usage, names=["127.0.0.1"], begin=now - HOUR, end=now + DAY
        )
        for usage in Usage
    }
    server = strict(ssl.PROTOCOL_TLS_SERVER, sides[Usage.SERVER], ca, tmp_path)
    client = strict(ssl.PROTOCOL_TLS_CLIENT, sides[Usage.CLIENT], ca, tmp_path)

    shake_hands(server, client)

    wrong = strict(ssl.PROTOCOL_TLS_CLIENT, sides[Usage.SERVER], ca, tmp_path)
    with pytest.raises(ssl.SSLError, match="unsuitable certificate purpose"):
        shake_hands(server, wrong)


def strict(protocol: int, pair: Pair, ca: Pair, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    context.load_verify_locations(cadata=ca.certificate.pem.decode())
    (folder / "tls.crt").write_bytes(pair.certificate.pem)
    (folder / "tls.key").write_bytes(pair.key.reveal())
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """Both sides in turn, until both have nothing more to say."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (
        client.wrap_bio(down, up, server_hostname="127.0.0.1"),
        server.wrap_bio(up, down, server_side=True),
    )
    for side in sides * 3:
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    assert sides[0].getpeercert()
    assert sides[1].getpeercert()
