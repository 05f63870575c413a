"""What a candidate does next, as tables."""

from __future__ import annotations

import pytest

from growth.errors import Misconfigured
from growth.kube.election.identity import Identity
from growth.kube.election.lease import Lease, LeaseMetadata, LeaseSpec
from growth.kube.election.rule import (
    CreateLease,
    HoldLease,
    LeadershipLoss,
    ReadLease,
    Settings,
    StepDown,
    Wait,
    leads_until,
    next_step,
)
from growth.kube.election.standing import (
    LeaseView,
    after_failure,
    after_hold,
    after_look,
    after_loss,
)

WE = Identity("a", "run2", place="here")
SETTINGS = Settings()


def held_by(holder: str | None, *, seconds: int | None = 15, renewed: str = "t1") -> Lease:
    spec = LeaseSpec(holder_identity=holder, lease_duration_seconds=seconds, renew_time=renewed)
    return Lease(LeaseMetadata(uid="u", resource_version="7"), spec)


NEVER_HELD = Lease(LeaseMetadata(uid="u", resource_version="1"))
ANOTHER = held_by("b_run1")
OURS = held_by(WE.text)

FREE_AFTER = {
    "another holder": (ANOTHER, 15),
    "another holder with a duration of its own": (held_by("b_run1", seconds=60), 60),
    "another holder that names no duration": (held_by("b_run1", seconds=None), 15),
    "an erased holder, or made because there was none": (held_by(""), 15),
    "given back": (held_by("", seconds=1), 0),
    "never held": (NEVER_HELD, 0),
    "ourselves": (OURS, 0),
    "our earlier run at this place": (held_by("a_here_run1"), 0),
    "our earlier run at another place": (held_by("a_there_run1"), 15),
    "our earlier run without a place": (held_by("a_run1"), 15),
    "a longer name that begins as ours": (held_by("a_here2_run1"), 15),
}


@pytest.mark.parametrize(("lease", "seconds"), FREE_AFTER.values(), ids=FREE_AFTER.keys())
def test_a_lease_is_free_after_what_its_state_promises(lease: Lease, seconds: int) -> None:
    standing = after_look(LeaseView(), lease, ended=100, next_call=1000)
    if seconds:
        before = 100 + seconds - 0.001
        assert step(standing, now=before) == Wait(until=100 + seconds)
    assert step(standing, now=100 + seconds) == HoldLease(lease)


def step(standing: LeaseView, *, now: float, who: Identity = WE) -> object:
    return next_step(standing, who=who, settings=SETTINGS, now=now)


def test_a_missing_lease_is_made_and_then_waited_out() -> None:
    standing = after_look(LeaseView(), None, ended=100, next_call=101)
    assert step(standing, now=100) == CreateLease()
    made = held_by("")
    standing = after_look(standing, made, ended=100.1, next_call=1000)
    assert step(standing, now=115) == Wait(until=115.1)
    assert step(standing, now=115.1) == HoldLease(made)


def test_a_candidate_that_knows_nothing_looks() -> None:
    assert step(LeaseView(), now=5) == ReadLease()


def test_a_candidate_looks_again_at_its_pace() -> None:
    standing = after_look(LeaseView(), ANOTHER, ended=100, next_call=101.5)
    assert step(standing, now=101.4) == Wait(until=101.5)
    assert step(standing, now=101.5) == ReadLease()


def test_waiting_starts_anew_with_each_renewal_that_is_seen() -> None:
    standing = after_look(LeaseView(), ANOTHER, ended=100, next_call=101)
    renewed = held_by("b_run1", renewed="t2")
    standing = after_look(standing, renewed, ended=110, next_call=1000)
    assert step(standing, now=124.9) == Wait(until=125)
    assert step(standing, now=125) == HoldLease(renewed)


def test_a_label_on_the_lease_is_no_renewal() -> None:
    standing = after_look(LeaseView(), ANOTHER, ended=100, next_call=101)
    labelled = Lease(LeaseMetadata(uid="u", resource_version="8"), ANOTHER.spec)
    standing = after_look(standing, labelled, ended=110, next_call=1000)
    assert step(standing, now=115) == HoldLease(labelled)


def test_a_lease_that_was_made_anew_is_waited_out_even_when_it_is_empty() -> None:
    standing = after_look(LeaseView(), ANOTHER, ended=100, next_call=101)
    anew = Lease(LeaseMetadata(uid="u2", resource_version="9"))
    standing = after_look(standing, anew, ended=102, next_call=1000)
    assert step(standing, now=116.9) == Wait(until=117)


def test_a_candidate_whose_call_failed_does_not_write_before_it_has_looked() -> None:
    standing = after_look(LeaseView(), ANOTHER, ended=100, next_call=101)
    standing = after_failure(standing, next_call=120)
    assert step(standing, now=119) == Wait(until=120)
    assert step(standing, now=120) == ReadLease()


def leading(*, since: float, next_call: float) -> LeaseView:
    return after_hold(LeaseView(), OURS, started=since, ended=since + 3, next_call=next_call)


def test_a_leader_renews_at_its_pace() -> None:
    standing = leading(since=100, next_call=101.5)
    assert step(standing, now=101) == Wait(until=101.5)
    assert step(standing, now=101.5) == HoldLease(OURS)


def test_a_leader_leads_until_the_start_of_its_renewal_plus_the_deadline() -> None:
    standing = leading(since=100, next_call=200)
    assert leads_until(standing, SETTINGS) == 110
    assert step(standing, now=109.9) == Wait(until=110)
    assert step(standing, now=110) == StepDown(LeadershipLoss.DEADLINE)


def test_a_leader_whose_call_failed_looks_before_it_writes() -> None:
    standing = after_failure(leading(since=100, next_call=101), next_call=103)
    assert step(standing, now=103) == ReadLease()
    standing = after_look(standing, OURS, ended=103.1, next_call=105)
    assert step(standing, now=103.1) == HoldLease(OURS)


@pytest.mark.parametrize("lease", [None, held_by(""), NEVER_HELD], ids=["none", "erased", "new"])
def test_a_leader_within_its_deadline_writes_itself_back(lease: Lease | None) -> None:
    standing = after_failure(leading(since=100, next_call=101), next_call=101)
    standing = after_look(standing, lease, ended=101.1, next_call=103)
    assert step(standing, now=101.1) == (CreateLease() if lease is None else HoldLease(lease))


def test_a_leader_that_sees_another_holder_ends_at_once() -> None:
    standing = after_look(leading(since=100, next_call=101), ANOTHER, ended=102, next_call=103)
    assert step(standing, now=102) == StepDown(LeadershipLoss.TAKEN)


def test_a_leader_that_lost_the_deadline_is_a_candidate_for_its_own_lease() -> None:
    standing = after_loss(leading(since=100, next_call=101))
    assert leads_until(standing, SETTINGS) == float("-inf")
    assert step(standing, now=150) == HoldLease(OURS)


def test_an_answer_that_was_on_its_way_too_long_makes_no_leader() -> None:
    standing = after_hold(LeaseView(), OURS, started=100, ended=130, next_call=131)
    assert leads_until(standing, SETTINGS) < 130


@pytest.mark.parametrize(
    ("duration", "deadline", "retry"), [(10, 10, 2), (15, 3, 2), (15, 10, 0), (15, 10, -1)]
)
def test_settings_that_break_the_promise_are_refused(
    duration: int, deadline: float, retry: float
) -> None:
    with pytest.raises(Misconfigured, match="each must be longer than the one before"):
        Settings(lease_duration=duration, renew_deadline=deadline, retry=retry)
