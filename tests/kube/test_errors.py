from __future__ import annotations

from typing import Any

import msgspec
import pytest

from growth.errors import DecideAgain, GiveUp, Misconfigured, RetryLater
from growth.kube.call import APPLY_PATCH, JSON_PATCH, Call
from growth.kube.errors import (
    AlreadyExists,
    ApiError,
    BudgetExhausted,
    Conflict,
    Expired,
    NotFound,
    Overloaded,
    OwnedByOthers,
    Refused,
    error_of,
    status_of,
)
from tests.kube.listening import status

GET = Call(method="GET", path="/api/v1/namespaces/shop/pods/web-0")
PATCH_JSON = Call(method="PATCH", path="/api/v1/nodes/n", content_type=JSON_PATCH)
PATCH_APPLY = Call(method="PATCH", path="/api/v1/nodes/n", content_type=APPLY_PATCH)


def error(call: Call, answer: dict[str, Any], **headers: str) -> ApiError:
    said = status_of(msgspec.json.encode(answer))
    return error_of(call, code=answer["code"], said=said, headers=headers)


@pytest.mark.parametrize(
    ("call", "answer", "kind", "reaction"),
    [
        (GET, status(400, reason="BadRequest"), Refused, GiveUp),
        (GET, status(404, reason="NotFound"), NotFound, GiveUp),
        (GET, status(405), Refused, GiveUp),
        (GET, status(408), Overloaded, RetryLater),
        (GET, status(409, reason="Conflict"), Conflict, DecideAgain),
        (GET, status(409, reason="AlreadyExists"), AlreadyExists, DecideAgain),
        (
            PATCH_APPLY,
            status(409, reason="Conflict", causes=[{"reason": "FieldManagerConflict"}]),
            OwnedByOthers,
            GiveUp,
        ),
        (GET, status(410, reason="Expired"), Expired, RetryLater),
        (GET, status(413, reason="RequestEntityTooLarge"), Refused, GiveUp),
        (GET, status(422, reason="Invalid"), Refused, GiveUp),
        (PATCH_APPLY, status(422, reason="Invalid"), Refused, GiveUp),
        (PATCH_JSON, status(422, reason="Invalid"), Conflict, DecideAgain),
        (
            PATCH_JSON,
            status(422, reason="Invalid", causes=[{"reason": "FieldValueInvalid"}]),
            Refused,
            GiveUp,
        ),
        (GET, status(429, reason="TooManyRequests"), Overloaded, RetryLater),
        (
            GET,
            status(429, reason="TooManyRequests", causes=[{"reason": "DisruptionBudget"}]),
            BudgetExhausted,
            RetryLater,
        ),
        (GET, status(500, reason="InternalError"), Overloaded, RetryLater),
        (GET, status(503, reason="ServiceUnavailable"), Overloaded, RetryLater),
        (GET, status(504, reason="Timeout"), Overloaded, RetryLater),
        (
            GET,
            status(403, reason="Forbidden", causes=[{"reason": "NamespaceTerminating"}]),
            Refused,
            GiveUp,
        ),
    ],
)
def test_an_answer_becomes_the_error_whose_reaction_fits(
    call: Call, answer: dict[str, Any], kind: type[ApiError], reaction: type[Exception]
) -> None:
    found = error(call, answer)

    assert type(found) is kind
    assert isinstance(found, reaction)
    assert (found.status, found.reason) == (answer["code"], answer["reason"])


@pytest.mark.parametrize("code", [401, 403])
def test_a_denial_names_verb_and_resource_and_how_to_mend_it(code: int) -> None:
    found = error(GET, status(code, reason="Forbidden", message='User "joe" cannot get'))

    assert isinstance(found, Misconfigured)
    assert str(found).startswith('get pods web-0 in shop: User "joe" cannot get')
    assert "; " in str(found)
    assert "\n" not in str(found)


@pytest.mark.parametrize(
    ("headers", "details", "after"),
    [
        ({"Retry-After": "7"}, {}, 7.0),
        ({}, {"retryAfterSeconds": 3}, 3.0),
        ({"Retry-After": "7"}, {"retryAfterSeconds": 3}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_wait_that_the_server_asks_for_is_passed_on(
    headers: dict[str, str], details: dict[str, Any], after: float | None
) -> None:
    found = error(GET, status(429, **details), **headers)

    assert isinstance(found, RetryLater)
    assert found.after == after


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>bad gateway</html>",
        b'{"kind":"Sta',
        b"[]",
        b'{"message":"\xff"}',
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_a_body_that_is_no_status_still_gives_an_error_and_is_not_quoted(body: bytes) -> None:
    found = error_of(GET, code=502, said=status_of(body), headers={})

    assert isinstance(found, Overloaded)
    assert "html" not in str(found)


@pytest.mark.parametrize(
    ("method", "path", "query", "action"),
    [
        ("GET", "/api/v1/pods", (), "list pods"),
        ("GET", "/api/v1/pods", (("watch", "true"),), "watch pods"),
        ("GET", "/api/v1/namespaces/shop/pods", (), "list pods in shop"),
        ("GET", "/api/v1/namespaces/shop", (), "get namespaces shop"),
        ("GET", "/apis/growth.dev/v1alpha1/nodepools/a", (), "get nodepools a"),
        (
            "PATCH",
            "/apis/growth.dev/v1alpha1/nodepools/a/status",
            (),
            "patch nodepools/status a",
        ),
        (
            "POST",
            "/api/v1/namespaces/shop/pods/web-0/eviction",
            (),
            "create pods/eviction web-0 in shop",
        ),
        ("DELETE", "/api/v1/nodes/n", (), "delete nodes n"),
        ("GET", "/readyz", (), "list /readyz"),
    ],
)
def test_an_action_is_told_as_the_verb_and_resource_of_a_role(
    method: str, path: str, query: tuple[tuple[str, str], ...], action: str
) -> None:
    assert Call(method=method, path=path, query=query).action == action


@pytest.mark.parametrize(
    ("message", "owners"),
    [
        (
            (
                'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" '
                "using apps/v1: .spec.replicas"
            ),
            ("kubectl",),
        ),
        (
            (
                'Apply failed with 2 conflicts: conflicts with "b" using v1:\n- .spec.x\n'
                'conflicts with "a":\n- .spec.y'
            ),
            ("a", "b"),
        ),
        ("Apply failed", ()),
    ],
)
def test_the_owners_of_a_field_are_named(message: str, owners: tuple[str, ...]) -> None:
    causes = [{"reason": "FieldManagerConflict"}]
    answer = status(409, reason="Conflict", causes=causes) | {"message": message}
    found = error(PATCH_APPLY, answer)
    assert isinstance(found, OwnedByOthers)
    assert found.owners == owners
