"""Requests that are deleted, and requests that have done their work."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.providers.port import Accepted, Failed, FailureClass
from tests.provisioning.build import HELD, NAME, Life, machine, made_at, settled
from tests.provisioning.test_booting import coming
from tests.reconciler.build import START, request
from tests.removal.build import removal

UNKNOWN = Failed(failure=FailureClass.TRANSIENT, reason="no answer came")


def test_a_purchase_that_nobody_has_made_is_cancelled_when_listings_show_none() -> None:
    life = Life(made_at(99), settled())
    life.extra = {"offerings": {}}
    life.soon()
    life.delete("NodeRequest")
    life.until(101.5)
    assert life.phase == "Pending", "one listing is no proof"
    life.until(104)
    assert (life.phase, life.get("NodeRemovalRequest"), life.orders) == ("", None, [])


def test_a_deleted_request_is_not_asked_for_again() -> None:
    life = Life(made_at(99), settled())
    life.answer = lambda _: UNKNOWN
    life.soon()
    life.delete("NodeRequest")
    life.sees = False
    life.until(200)
    assert len(life.orders) == 1


@pytest.mark.parametrize("answer", [UNKNOWN, Accepted(machine_id="kwok://default-1")])
def test_what_a_cancelled_purchase_has_bought_is_given_back_first(answer: Any) -> None:
    life = Life(made_at(99), settled())
    life.step()
    life.machines[NAME] = machine()
    life.delete("NodeRequest")
    life.answered(answer)
    life.until(103)
    assert (life.phase, life.get("NodeRemovalRequest").spec.reason.value) == ("", "NeverJoined")
    assert life.writes.index("OpenRemoval") < life.writes.index("SetFinalizers")


def test_a_machine_that_is_made_by_an_open_call_is_not_forgotten() -> None:
    """The listing has to be younger than the call's end, not than the wish to cancel it."""
    life = Life(made_at(99), settled())
    life.step()
    life.delete("NodeRequest")
    life.until(110)
    assert life.phase == "Pending"
    life.answered(UNKNOWN)
    life.step()
    assert life.phase == "Pending"
    life.machines[NAME] = machine()
    life.until(113)
    assert life.get("NodeRemovalRequest") is not None


def test_a_machine_that_boots_is_given_back_when_its_request_is_deleted() -> None:
    life = coming()
    life.until(110)
    life.delete("NodeRequest")
    life.soon()
    assert (life.phase, life.get("NodeRemovalRequest").spec.node_id) == ("", "kwok://default-1")


def test_a_request_without_its_pool_is_let_go_and_its_machine_left_to_be_found() -> None:
    life = coming()
    life.until(103)
    life.drop("NodePool", "default")
    life.until(105)
    assert (life.phase, life.get("NodeRemovalRequest")) == ("", None)


def test_a_request_that_is_held_by_others_too_stays_for_them() -> None:
    life = coming()
    found = life.get("NodeRequest")
    held = found.metadata.model_copy(update={"finalizers": (*HELD, "others.example/audit")})
    life.put(found.model_copy(update={"metadata": held}), removal())
    life.delete("NodeRequest")
    life.until(110)
    assert life.get("NodeRequest").metadata.finalizers == ("others.example/audit",)
    assert life.writes.count("SetFinalizers") == 1


def finished(phase: str, *, held: bool = False, **fields: Any) -> Any:
    made = request(status={"phase": phase, "lastTransitionTime": START} | fields)
    if held:
        return made
    return made.model_copy(update={"metadata": made.metadata.model_copy(update={"finalizers": ()})})


@pytest.mark.parametrize("phase", ["Ready", "Unmet"])
def test_nothing_holds_a_request_that_has_done_its_work(phase: str) -> None:
    life = Life(finished(phase, held=True), settled())
    life.soon()
    assert life.get("NodeRequest").metadata.finalizers == ()


TTL = {"requestTTL": {"ready": "150s", "unmet": "120s"}}


@pytest.mark.parametrize(("phase", "ends"), [("Ready", 150.0), ("Unmet", 120.0)])
def test_each_phase_has_its_own_time_to_live(phase: str, ends: float) -> None:
    life = Life(finished(phase), settled(**TTL))
    life.until(ends)
    life.step()
    assert life.phase == phase, "its time is over when it is exceeded"
    life.until(ends + 0.1)
    assert life.phase == ""


def test_a_finished_request_without_a_date_is_over() -> None:
    life = Life(request(status={"phase": "Unmet"}), settled())
    life.soon()
    assert life.phase == ""
