"""Whatever is posted, the answer is a 4xx with one line, or the pod comes in."""

from __future__ import annotations

import asyncio
import json
import random
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from tests.webhooks.mutations import mutated
from tests.webhooks.reviews import changed_by, pools_from, posted, review_of, warnings_of
from tests.webhooks.serving import Served, served
from tests.webhooks.table import POOLS, TABLE
from webhooks import door as server
from webhooks.desk import Desk
from webhooks.metrics import AdmissionMetrics
from webhooks.review import NotAReview

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAMES_NO_POOL = next(case for case in TABLE if case.pools == "prefer")
POD, AFTER = NAMES_NO_POOL.before, NAMES_NO_POOL.after
PREFER = pools_from(POOLS["prefer"])
MEBIBYTE = 2**20


@pytest.fixture
async def door() -> AsyncIterator[Served]:
    async with served(lambda: PREFER) as one:
        yield one


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def without(key: str, *, inside: str = "") -> bytes:
    review = review_of(POD)
    (review[inside] if inside else review).pop(key)
    return json.dumps(review).encode()


def with_(key: str, value: object) -> bytes:
    return json.dumps(review_of(POD) | {key: value}).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00\xff\xfe", id="bytes"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{}", id="an empty object"),
        pytest.param(posted(POD)[:-1], id="half a review"),
        pytest.param(posted(POD) + b"x", id="a review and more"),
        pytest.param(b"[" * 100_000, id="nesting without an end"),
        pytest.param(b'{"request":' * 50_000 + b"1" + b"}" * 50_000, id="deep nesting"),
        pytest.param(with_("kind", "ConversionReview"), id="another kind"),
        pytest.param(with_("kind", 7), id="a kind that is a number"),
        pytest.param(with_("apiVersion", "admission.k8s.io/v1beta1"), id="another version"),
        pytest.param(with_("request", None), id="no request"),
        pytest.param(without("request"), id="no request at all"),
        pytest.param(without("uid", inside="request"), id="no uid"),
        pytest.param(posted(POD, uid=""), id="an empty uid"),
        pytest.param(posted(POD, uid=12), id="a uid that is a number"),
        pytest.param(posted(POD, operation={}), id="an operation that is none"),
    ],
)
async def test_what_is_no_review_is_refused_with_a_line(body: bytes, door: Served) -> None:
    status, text = await door.post(body)

    assert status == 400
    assert text.startswith(b"not a review: ")
    assert text.count(b"\n") == 1


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}}, "isn't a v1 Pod"),
        ({"kind": {"group": "", "version": "v2", "kind": "Pod"}}, "isn't a v1 Pod"),
        ({"object": None}, "isn't a v1 Pod"),
        ({"object": []}, "$.request.object"),
        ({"object": {"spec": {"tolerations": "all"}}}, "$.request.object.spec.tolerations"),
        ({"object": {"spec": {"nodeSelector": {"a": 1}}}}, "$.request.object.spec.nodeSelector"),
        ({"object": {"metadata": {"labels": ["app"]}}}, "$.request.object.metadata.labels"),
    ],
    ids=lambda each: json.dumps(each) if isinstance(each, dict) else "",
)
async def test_a_pod_that_cannot_be_read_comes_in_with_a_warning(
    request_: dict[str, object], problem: str, door: Served
) -> None:
    status, answer = await door.post(posted(POD, **request_))

    assert status == 200
    assert changed_by(answer, POD) == POD
    [warning] = warnings_of(answer)
    assert problem in warning
    assert len(warning) <= 256


async def test_ten_mebibytes_are_refused(door: Served) -> None:
    status, text = await door.post(b" " * 10 * MEBIBYTE)

    assert (status, text) == (413, b"the body is larger than 8388608 bytes\n")


async def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(door: Served) -> None:
    host, port = door.place.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /mutate-pods HTTP/1.1\r\nHost: x\r\nContent-Length: 10485760\r\n\r\n")

    answer = await asyncio.wait_for(reader.readline(), timeout=60)

    assert answer.startswith(b"HTTP/1.1 413 ")
    writer.close()
    await writer.wait_closed()


async def test_a_body_of_unknown_length_is_cut_off_at_the_limit(door: Served) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * MEBIBYTE:
            sent += MEBIBYTE
            yield b" " * MEBIBYTE

    try:
        status, _ = await door.post(endless())
    except OSError:  # The door has closed while we were still sending.
        status = 413
    assert status == 413
    assert sent < 100 * MEBIBYTE


async def test_the_largest_pod_that_the_api_server_takes_is_answered(door: Served) -> None:
    notes = {f"note-{number}": "x" * 1024 for number in range(3 * 1024 - 20)}
    pod = {**POD, "metadata": {"name": "web", "annotations": notes}}

    status, answer = await door.post(posted(pod))

    assert status == 200
    assert changed_by(answer, pod)["spec"] == AFTER["spec"]


async def test_a_body_that_does_not_come_is_not_waited_for(
    door: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.05)
    host, port = door.place.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /mutate-pods HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")

    answer = await asyncio.wait_for(reader.read(), timeout=60)

    assert answer.startswith(b"HTTP/1.1 408 ")
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/mutate-pods", {}, 405),
        ("PUT", "/mutate-pods", {}, 405),
        ("POST", "/", {}, 404),
        ("POST", "/mutate-pods/", {}, 404),
        ("POST", "/metrics", {}, 404),
        ("POST", "/mutate-pods", {"Content-Encoding": "gzip"}, 415),
    ],
)
async def test_only_plain_reviews_are_taken_and_at_one_path_only(
    method: str, path: str, headers: dict[str, str], status: int, door: Served
) -> None:
    url = f"http://{door.place}{path}"
    async with door.session.request(method, url, headers=headers, data=posted(POD)) as answer:
        assert answer.status == status
        assert (await answer.text()).count("\n") == 1


@pytest.mark.parametrize(
    "head",
    [
        b"POST /%ff%fe HTTP/1.1",
        b"POST //mutate-pods HTTP/1.1",
        b"POST http://[::1 HTTP/1.1",
        b"POST * HTTP/1.1",
        b"POST /mutate-pods?x=%zz#\xff HTTP/1.1",
        b"CONNECT evil.example.org:443 HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST /mutate-pods HTTP/9.9",
        b"POST /mutate-pods HTTP/1.1\r\nContent-Length: -5",
        b"POST /mutate-pods HTTP/1.1\r\nContent-Length: many",
        b"POST /mutate-pods HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        b"POST /mutate-pods HTTP/1.1\r\nX: " + b"x" * 100_000,
        b"POST /mutate-pods HTTP/1.1\r\nExpect: 100-wonders",
    ],
    ids=lambda head: head[:60].decode("latin-1"),
)
async def test_what_is_hardly_http_is_a_mistake_of_the_caller(head: bytes, door: Served) -> None:
    host, port = door.place.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head + b"\r\nHost: x\r\nConnection: close\r\n\r\n")

    answer = await asyncio.wait_for(reader.read(), timeout=60)

    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), answer
    writer.close()
    await writer.wait_closed()
    assert (await door.post(posted(POD)))[0] == 200


def is_proper(status: int, answer: bytes) -> bool:
    if status == 200:
        return bool(json.loads(answer)["response"]["allowed"] is True)
    return status == 400 and answer.startswith(b"not a review: ") and answer.count(b"\n") == 1


async def mutations_are_answered(door: Served, *, number: int) -> None:
    """Posted over a few connections, one after the other."""
    chance = random.Random(6)

    async def post_some(bodies: list[bytes]) -> None:
        for body in bodies:
            status, answer = await door.post(body)
            assert is_proper(status, answer), (status, body, answer)

    bodies = [mutated(chance) for _ in range(number)]
    await asyncio.gather(*(post_some(bodies[first::8]) for first in range(8)))
    assert door.count("failed") == 0
    assert door.count("unreadable_pod") > 0
    assert door.count("patched") > 0


async def test_hundreds_of_mutated_reviews_are_answered_properly(door: Served) -> None:
    await mutations_are_answered(door, number=400)


def test_ten_thousand_mutated_reviews_are_judged_without_a_failure_and_in_flat_memory() -> None:
    chance = random.Random(7)
    registry = CollectorRegistry()
    desk = Desk(lambda: PREFER, own_namespace="ours", metrics=AdmissionMetrics(registry))

    def judge(number: int) -> int:
        """How many were no reviews; all others let the pod in."""
        refused = 0
        for _ in range(number):
            body = mutated(chance)
            try:
                assert json.loads(desk.answer(body))["response"]["allowed"] is True
            except NotAReview:
                refused += 1
        return refused

    assert 0 < judge(2000) < 2000
    before = resident()
    assert 0 < judge(8000) < 8000
    assert resident() - before < 20 * MEBIBYTE
    failed = registry.get_sample_value("growth_admission_reviews_total", {"outcome": "failed"})
    assert failed == 0


async def test_bodies_that_are_refused_leave_no_memory_behind(door: Served) -> None:
    await door.post(b" " * 10 * MEBIBYTE)
    before = resident()
    for _ in range(10):
        assert (await door.post(b" " * 10 * MEBIBYTE))[0] == 413
    assert resident() - before < 30 * MEBIBYTE


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_ten_thousand_mutated_reviews_are_answered_properly(door: Served) -> None:
    await mutations_are_answered(door, number=1000)
    before = resident()
    await mutations_are_answered(door, number=10_000)
    assert resident() - before < 30 * MEBIBYTE
