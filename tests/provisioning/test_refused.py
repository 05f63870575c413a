"""What a provider doesn't have is written in the pool's status, and found out again by one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from growth.api.nodepool_status import UnmetOffer
from growth.api.noderequest import UnmetScope
from reconciler.buying.refusals import Refusals, refusals, span
from reconciler.pools.refused import next_refusal_end, unmet_offers
from reconciler.providers.port import Unmet
from tests.provisioning.build import Life, made_at, settled
from tests.reconciler.build import START, at, pool, request, world

SOLD_OUT = Unmet(reason="sold out", scope=UnmetScope.OFFER)


def moment(seconds: float) -> Any:
    return START + timedelta(seconds=seconds)


def entry(
    until: float, *, failures: int = 1, server_type: str = "small", location: str = "here"
) -> UnmetOffer:
    return UnmetOffer(
        server_type=server_type, location=location, until=moment(until), failures=failures
    )


def unmet(at: float, name: str = "default-1", *, scope: str = "Offer", **fields: Any) -> Any:
    status = {"phase": "Unmet", "unmetScope": scope, "lastTransitionTime": moment(at)}
    return request(name, status=status, **fields)


def served(accepted: float, name: str = "default-9", **fields: Any) -> Any:
    stamps = {"acceptedAt": moment(accepted), "readyAt": moment(accepted + 5)}
    return request(name, status={"phase": "Ready"} | stamps, **fields)


def lemon(accepted: float, at: float, name: str = "default-1") -> Any:
    stamps = {"acceptedAt": moment(accepted), "lastTransitionTime": moment(at)}
    return request(name, status={"phase": "Deprovisioning"} | stamps)


def after(*requests: Any, before: tuple[UnmetOffer, ...] = ()) -> tuple[UnmetOffer, ...]:
    told = settled(status={"unmetOffers": [each.document() for each in before]})
    failed = [each for each in requests if each.status.phase.value in {"Unmet", "Deprovisioning"}]
    return unmet_offers(told, failed, world(told, *requests))


@pytest.mark.parametrize(
    ("scope", "server_type", "location"),
    [("Offer", "small", "here"), ("Location", "", "here"), ("Project", "", "")],
)
def test_a_refusal_reaches_as_far_as_the_provider_says(
    scope: str, server_type: str, location: str
) -> None:
    wanted = entry(400, server_type=server_type, location=location)
    assert after(unmet(100, scope=scope)) == (wanted,)


@pytest.mark.parametrize(
    ("ttl", "failures", "seconds"),
    [
        ("5m", 1, 300),
        ("5m", 2, 600),
        ("5m", 3, 1200),
        ("5m", 4, 1800),
        ("5m", 10**9, 1800),
        ("45m", 1, 2700),
        ("45m", 2, 2700),
        ("1s", 3, 4),
    ],
)
def test_each_failure_in_a_row_doubles_the_wait_up_to_its_ceiling(
    ttl: str, failures: int, seconds: float
) -> None:
    assert span(pool(requestTTL={"unmet": ttl}), failures) == seconds


@pytest.mark.parametrize(
    ("requests", "before", "expected"),
    [
        pytest.param((), (), (), id="nothing"),
        pytest.param((unmet(100),), (entry(400),), (entry(400),), id="written already"),
        pytest.param(
            (unmet(100), unmet(101, "default-2"), unmet(399, "default-3")),
            (),
            (entry(400),),
            id="a burst is one failure",
        ),
        pytest.param(
            (unmet(500),),
            (entry(400),),
            (entry(1100, failures=2),),
            id="a probe that is refused doubles",
        ),
        pytest.param(
            (unmet(100), unmet(500, "default-2")),
            (entry(400),),
            (entry(1100, failures=2),),
            id="the old request counts no second time",
        ),
        pytest.param((served(401),), (entry(400),), (), id="a machine of it serves again"),
        pytest.param((served(399),), (entry(400),), (entry(400),), id="accepted before"),
        pytest.param(
            (served(401, location="there"),), (entry(400),), (entry(400),), id="another place"
        ),
        pytest.param(
            (served(401),),
            (entry(400, server_type=""),),
            (),
            id="any machine proves that its place is back",
        ),
        pytest.param(
            (unmet(400),), (entry(400),), (entry(400),), id="refused at its end, which counts to it"
        ),
        pytest.param((), (entry(400),), (entry(400),), id="after its time it stays in doubt"),
        pytest.param((lemon(40, 100),), (), (entry(101),), id="a lemon may be replaced once"),
        pytest.param(
            (lemon(110, 170),),
            (entry(101),),
            (entry(470, failures=2),),
            id="two lemons in a row, and the offer rests",
        ),
        pytest.param(
            (lemon(40, 100), served(38)), (), (), id="one lemon among machines that serve"
        ),
    ],
)
def test_the_entries_of_a_pool(
    requests: tuple[Any, ...], before: tuple[UnmetOffer, ...], expected: tuple[UnmetOffer, ...]
) -> None:
    assert after(*requests, before=before) == expected


@pytest.mark.parametrize(("seconds", "stands"), [(399.999, True), (400.0, True), (400.001, False)])
def test_an_offer_rests_until_the_end_of_its_time_is_exceeded_and_not_only_met(
    seconds: float,
    stands: bool,  # noqa: FBT001 - a column of the table
) -> None:
    told = settled(status={"unmetOffers": [entry(400).document()]})

    known, _ = refusals(Refusals(), world(told), at(seconds))
    wakes = [each > seconds for each in next_refusal_end(told, at(seconds))]

    assert (bool(known.standing), bool(known.doubtful)) == (stands, not stands)
    assert wakes == [True] * stands, "the loop looks again when it is over"


def test_of_too_many_entries_those_that_hold_longest_are_kept() -> None:
    many = tuple(entry(100 + n, location=f"place-{n:03}") for n in range(512))
    kept = after(unmet(900), before=many)
    assert len(kept) == 512
    assert "place-000" not in {each.location for each in kept}
    assert "here" in {each.location for each in kept}


def test_a_refusal_is_written_before_its_request_is_deleted() -> None:
    life = Life(made_at(99), settled(requestTTL={"unmet": "20s"}))
    life.answer = lambda _: SOLD_OUT
    life.until(119)
    (written,) = life.get("NodePool", "default").status.unmet_offers
    assert (written.server_type, written.failures, life.phase) == ("small", 1, "Unmet")
    life.until(122)
    assert life.phase == ""
    assert life.get("NodePool", "default").status.unmet_offers == (written,)


def test_a_request_whose_refusal_cannot_be_written_is_kept() -> None:
    life = Life(unmet(1), settled(requestTTL={"unmet": "20s"}))
    life.extra = {"busy": frozenset({("pool", "default")})}
    life.until(110)
    assert life.phase == "Unmet"


def test_an_unmet_request_lives_longer_with_each_failure() -> None:
    before = {"unmetOffers": [entry(90).document()]}
    life = Life(made_at(99), settled(requestTTL={"unmet": "20s"}, status=before))
    life.answer = lambda _: SOLD_OUT
    life.until(139)
    assert life.phase == "Unmet"
    life.until(142)
    assert life.phase == ""


def test_a_restart_forgets_no_refusal() -> None:
    life = Life(made_at(99), settled(requestTTL={"unmet": "20s"}))
    life.answer = lambda _: SOLD_OUT
    life.until(110)
    before = life.get("NodePool", "default").status.unmet_offers
    life.restart()
    life.until(130)
    assert life.get("NodePool", "default").status.unmet_offers == before
