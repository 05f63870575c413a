"""What each of Hetzner's errors means, and that no error tells a secret."""

from __future__ import annotations

import pytest

from growth.api.noderequest import UnmetScope
from reconciler.providers.hetzner.failures import TROUBLES, Failure, classify, without_secrets
from reconciler.providers.port import (
    Failed,
    FailureClass,
    ProviderTrouble,
    Throttled,
    Unmet,
    refused_create,
)
from tests.hetzner.conftest import TOKEN

CODES = {
    ProviderTrouble.STOCKOUT: (
        "resource_unavailable",
        "placement_error",
        "invalid_server_type",
        "unsupported_error",
        "no_space_left_in_location",
        "uniqueness_error",
    ),
    ProviderTrouble.LOCATION_DOWN: ("maintenance",),
    ProviderTrouble.QUOTA: ("resource_limit_exceeded",),
    ProviderTrouble.THROTTLED: ("rate_limit_exceeded", "http_429"),
    ProviderTrouble.TRANSIENT: (
        "conflict",
        "locked",
        "timeout",
        "bad_gateway",
        "server_error",
        "service_error",
        "unknown_error",
        "server_already_attached",
        "firewall_already_applied",
        "http_502",
        "http_503",
        "answer_lost",
        "answer_not_readable",
        "label_edited",
        "a_code_of_next_year",
    ),
    ProviderTrouble.TEMPLATE: (
        "invalid_input",
        "not_found",
        "no_subnet_available",
        "ip_not_available",
        "networks_overlap",
        "private_net_only_server",
        "protected",
    ),
    ProviderTrouble.FATAL: (
        "unauthorized",
        "forbidden",
        "token_readonly",
        "resource_locked",
        "deprecated_api_endpoint",
    ),
}


@pytest.mark.parametrize(
    ("code", "trouble"), [(code, trouble) for trouble, codes in CODES.items() for code in codes]
)
def test_each_code_means_one_thing(code: str, trouble: ProviderTrouble) -> None:
    assert classify(code, "") is trouble


def test_no_code_is_missing_from_the_table() -> None:
    known = {code for codes in CODES.values() for code in codes}

    assert set(TROUBLES) - known == {"over_budget"}


@pytest.mark.parametrize(
    ("code", "text", "trouble"),
    [
        ("forbidden", "server limit exceeded", ProviderTrouble.QUOTA),
        ("forbidden", "insufficient permissions", ProviderTrouble.FATAL),
        ("invalid_input", "unsupported location for server type", ProviderTrouble.STOCKOUT),
        ("invalid_input", "server type cx11 is deprecated", ProviderTrouble.STOCKOUT),
        ("resource_unavailable", "Location nbg1 is disabled", ProviderTrouble.LOCATION_DOWN),
        (
            "service_error",
            "Placement group web-1 already contains 10 servers",
            ProviderTrouble.STOCKOUT,
        ),
    ],
)
def test_where_one_code_means_several_things_the_text_decides(
    code: str, text: str, trouble: ProviderTrouble
) -> None:
    assert classify(code, text) is trouble


@pytest.mark.parametrize(
    ("trouble", "answer"),
    [
        (ProviderTrouble.STOCKOUT, Unmet(reason="why", scope=UnmetScope.OFFER)),
        (ProviderTrouble.LOCATION_DOWN, Unmet(reason="why", scope=UnmetScope.LOCATION)),
        (ProviderTrouble.QUOTA, Unmet(reason="why", scope=UnmetScope.PROJECT)),
        (ProviderTrouble.THROTTLED, Throttled(seconds=7)),
        (ProviderTrouble.TRANSIENT, Failed(failure=FailureClass.TRANSIENT, reason="why")),
        (ProviderTrouble.TEMPLATE, Failed(failure=FailureClass.TEMPLATE, reason="why")),
        (ProviderTrouble.FATAL, Failed(failure=FailureClass.FATAL, reason="why")),
    ],
)
def test_each_meaning_has_its_answer(trouble: ProviderTrouble, answer: object) -> None:
    assert refused_create(trouble, reason="why", seconds=7) == answer


@pytest.mark.parametrize("quoted", [TOKEN, TOKEN[:8], TOKEN[20:40], TOKEN[-6:]])
def test_a_piece_of_a_token_never_stays_in_a_text(quoted: str) -> None:
    told = without_secrets(f"limit reached\nfor token {quoted}...", [TOKEN, ""])

    assert told == "limit reached for token [redacted]..."


def test_a_reason_says_what_hetzner_s_support_asks_for() -> None:
    failure = Failure(code="service_error", text="something broke", correlation_id="abc-1")

    assert failure.reason == "something broke (service_error, correlation id abc-1)"
