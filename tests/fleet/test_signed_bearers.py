"""Tokens of an identity provider: only what its keys have signed, and only while it is valid."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from fleet.reports.access import AGENT_ROLE, CLUSTER_CLAIM, AgentClaims
from fleet.serving.signed import LEEWAY, SignedBearers, keys_in
from growth.errors import Misconfigured
from tests.fleet.building import NOW
from tests.fleet.tokens import ISSUER, a_token, key_set

if TYPE_CHECKING:
    from datetime import datetime

WHOLE = a_token()
HEADER, PAYLOAD, SIGNATURE = WHOLE.split(".")
VALID_UNTIL = NOW + timedelta(seconds=300 + LEEWAY)


async def claims(token: str, *, now: datetime = NOW) -> AgentClaims | None:
    keys = keys_in(key_set("ec", "rsa", "rsa-1024"))
    return await SignedBearers(lambda: keys, now=lambda: now).claims_of(token)


@pytest.mark.parametrize("kid", ["ec", "rsa"])
async def test_a_good_token_says_whose_agent_it_is(kid: str) -> None:
    found = await claims(a_token(kid))
    assert found is not None
    assert AGENT_ROLE in found.roles
    assert (found.issuer, found.cluster) == (ISSUER, "a")


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="nothing"),
        pytest.param("a.b.c", id="no base64"),
        pytest.param(f"{HEADER}.{PAYLOAD}", id="no signature"),
        pytest.param(f"{HEADER}.{PAYLOAD}.", id="an empty signature"),
        pytest.param(f"{WHOLE}.x", id="a part more"),
        pytest.param(f"{HEADER}.{a_token(iss='x').split('.')[1]}.{SIGNATURE}", id="other claims"),
        pytest.param(a_token(header={"alg": "none"}), id="no algorithm"),
        pytest.param(a_token(header={"alg": "HS256"}), id="a shared secret"),
        pytest.param(a_token("rsa", header={"alg": "ES256"}), id="the algorithm of another key"),
        pytest.param(a_token(header={"alg": ["ES256"]}), id="a list of algorithms"),
        pytest.param(a_token("ec-stranger"), id="an unknown key"),
        pytest.param(a_token("ec-stranger", header={"kid": "ec"}), id="another's signature"),
        pytest.param(a_token("rsa-1024"), id="a weak key"),
        pytest.param(a_token(header={"kid": {}}), id="an id that is none"),
        pytest.param(a_token(exp=None), id="no end"),
        pytest.param(a_token(exp="never"), id="an end that is a text"),
        pytest.param(a_token(nbf=int(NOW.timestamp()) + LEEWAY + 1), id="not yet"),
    ],
)
async def test_a_token_that_is_not_good_says_nothing(token: str) -> None:
    assert await claims(token) is None


async def test_a_token_ends() -> None:
    assert await claims(WHOLE, now=VALID_UNTIL - timedelta(seconds=1)) is not None
    assert await claims(WHOLE, now=VALID_UNTIL) is None


@pytest.mark.parametrize(
    "told",
    [
        {"iss": 7, CLUSTER_CLAIM: ["a"], "realm_access": []},
        {"iss": None, CLUSTER_CLAIM: None, "realm_access": {"roles": "all"}},
    ],
)
async def test_claims_of_another_form_count_as_none(told: dict[str, Any]) -> None:
    assert await claims(a_token(**told)) == AgentClaims(
        issuer=None, roles=frozenset(), cluster=None
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"keys": [7]}', '{"keys": [{"kid": 1, "kty": "RSA"}]}']
)
def test_a_file_that_is_no_key_set_is_the_user_s_mistake(text: str) -> None:
    with pytest.raises(Misconfigured, match="JSON Web Key Set"):
        keys_in(text)


def test_keys_of_other_kinds_are_left_out() -> None:
    assert keys_in('{"keys": [{"kid": "a", "kty": "oct"}, {"kty": "RSA"}]}') == {}
