"""The shell on a virtual clock: what a leader's work lives through."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import time
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from growth.clocks import wall_clock
from growth.errors import Misconfigured, RetryLater
from growth.kube.election import (
    ElectionMetrics,
    Identity,
    Leadership,
    LeadershipLost,
    LeaseOnServer,
    Settings,
    lead,
    lead_repeatedly,
)
from growth.kube.election.lease import (
    Lease,
    LeaseMetadata,
    LeaseSpec,
    holding_patch,
    seconds_without_a_leader,
)
from growth.kube.errors import Denied, Unreachable
from tests.election.api_model import ModelConnection
from tests.election.lease_model import LeaseModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

pytestmark = pytest.mark.looptime

SETTINGS = Settings()
A, B = Identity("a", "run1", "here"), Identity("b", "run1", "here")


def now() -> float:
    return asyncio.get_running_loop().time()


def leading(
    api: ModelConnection,
    who: Identity = A,
    *,
    registry: CollectorRegistry | None = None,
    clock: Callable[[], float] = now,
    wall: Callable[[], datetime] = wall_clock,
) -> AbstractAsyncContextManager[Leadership]:
    return lead(
        LeaseOnServer(api, namespace="growth", name="reconciler"),
        who=who,
        settings=SETTINGS,
        metrics=ElectionMetrics(registry or CollectorRegistry()),
        clock=clock,
        wall=wall,
        chance=Random(who.text),
    )


@pytest.fixture
def api() -> ModelConnection:
    """An installed Lease that nobody has held."""
    connection = ModelConnection()
    connection.model.install()
    return connection


def holder(api: ModelConnection) -> str | None:
    assert api.model.stored is not None
    name: str | None = api.model.stored["spec"].get("holderIdentity")
    return name


async def test_an_installed_lease_is_led_at_once(api: ModelConnection) -> None:
    async with leading(api):
        assert holder(api) == A.text
        assert now() < 0.1


async def test_the_first_election_ever_needs_no_lease() -> None:
    api = ModelConnection()
    async with leading(api):
        assert holder(api) == A.text
        assert SETTINGS.lease_duration < now() < SETTINGS.lease_duration + 2


async def test_two_that_make_the_missing_lease_at_once_end_with_one_leader() -> None:
    api = ModelConnection()
    led: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as tasks:
        for who in (A, B):
            tasks.create_task(work_for(5, api, who, led))
    (_, first_end), (second_start, _) = sorted(led)
    assert first_end <= second_start < first_end + 0.1


async def work_for(
    seconds: float, api: ModelConnection, who: Identity, led: list[tuple[float, float]]
) -> None:
    async with leading(api, who):
        start = now()
        await asyncio.sleep(seconds)
        led.append((start, now()))


async def test_a_leader_keeps_its_lease_with_one_call_in_a_while(api: ModelConnection) -> None:
    async with leading(api) as leadership:
        await asyncio.sleep(1000)
        leadership.check()
    assert 500 < len(api.requests) < 850


async def test_a_leader_ends_by_the_deadline_when_the_api_hangs(api: ModelConnection) -> None:
    leadership = None
    hung_at = 60.0
    asyncio.get_running_loop().call_at(hung_at, api.answers.clear)
    with pytest.raises(LeadershipLost, match="could not be renewed in time"):
        async with leading(api) as leadership:
            await forever()
    last_renewal = max(at for at, method in api.requests if at <= hung_at and method == "PATCH")
    # Giving the Lease back is tried too, for no longer than one call may take.
    assert now() <= last_renewal + SETTINGS.renew_deadline + SETTINGS.call_timeout
    assert leadership is not None
    with pytest.raises(LeadershipLost):
        leadership.check()


async def forever() -> None:
    await asyncio.Event().wait()


async def test_work_is_cancelled_in_time_even_when_a_call_ignores_its_timeout(
    api: ModelConnection,
) -> None:
    cancelled_at = 0.0

    async def led_until_cancelled() -> None:
        nonlocal cancelled_at
        async with leading(api):
            try:
                api.deaf = True
                api.answers.clear()
                await forever()
            finally:
                cancelled_at = now()

    task = asyncio.create_task(led_until_cancelled())
    await asyncio.sleep(30)
    assert 0 < cancelled_at <= SETTINGS.renew_deadline + 0.1
    api.answers.set()
    with pytest.raises(LeadershipLost):
        await task


async def test_a_crash_of_the_work_gives_the_lease_back_and_comes_out(
    api: ModelConnection,
) -> None:
    crash = KeyError("a bug")
    with pytest.raises(KeyError) as caught:
        async with leading(api):
            raise crash
    assert caught.value is crash
    assert holder(api) == ""
    assert len(asyncio.all_tasks()) == 1


async def test_a_crash_of_a_task_of_the_work_comes_out_as_the_group_it_was(
    api: ModelConnection,
) -> None:
    async def crash() -> None:
        await asyncio.sleep(1)
        raise KeyError

    with pytest.RaisesGroup(KeyError):
        async with leading(api), asyncio.TaskGroup() as tasks:
            tasks.create_task(crash())
            await forever()
    assert holder(api) == ""


async def test_a_cancelled_leader_leaves_no_task_and_no_holder(api: ModelConnection) -> None:
    async def led() -> None:
        async with leading(api):
            await forever()

    task = asyncio.create_task(led())
    await asyncio.sleep(5)
    assert holder(api) == A.text
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert holder(api) == ""
    assert len(asyncio.all_tasks()) == 1


async def test_the_next_leads_at_once_after_a_clean_stop(api: ModelConnection) -> None:
    led: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(work_for(20, api, A, led))
        await asyncio.sleep(1)
        tasks.create_task(work_for(20, api, B, led))
    (_, first_end), (second_start, _) = led
    assert first_end <= second_start < first_end + 0.1


async def test_the_lease_is_kept_while_cancelled_work_winds_up(api: ModelConnection) -> None:
    wound_up_at = 0.0

    async def led() -> None:
        nonlocal wound_up_at
        async with leading(api) as leadership:
            try:
                await forever()
            finally:
                await asyncio.sleep(2 * SETTINGS.lease_duration)
                leadership.check()
                wound_up_at = now()

    task = asyncio.create_task(led())
    await asyncio.sleep(1)
    task.cancel()
    async with leading(api, B):
        assert wound_up_at <= now() < wound_up_at + 0.1
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nothing_may_be_bought_after_a_pause_that_no_timer_has_noticed(
    api: ModelConnection,
) -> None:
    slept = 0.0
    loop = asyncio.get_running_loop()
    async with leading(api, clock=lambda: loop.time() + slept) as leadership:
        await asyncio.sleep(5)
        leadership.check()
        slept = SETTINGS.renew_deadline
        with pytest.raises(LeadershipLost):
            leadership.check()


async def test_a_renewal_whose_answer_came_after_a_pause_renews_nothing(
    api: ModelConnection,
) -> None:
    api.delay, loop = 1, asyncio.get_running_loop()

    def clock() -> float:
        # Two calls take the first two seconds; the third is a renewal, and is under way at 3 s.
        return loop.time() + (0 if loop.time() < 3 else 2 * SETTINGS.lease_duration)

    with pytest.raises(LeadershipLost):
        async with leading(api, clock=clock):
            await forever()
    assert [method for _, method in api.requests][:4] == ["GET", "PATCH", "PATCH", "GET"]
    assert now() < 10


async def test_the_times_in_the_lease_are_utc_wherever_the_process_runs(
    api: ModelConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    async with leading(api):
        assert api.model.stored is not None
        renewed = api.model.stored["spec"]["renewTime"]
    monkeypatch.undo()
    time.tzset()
    assert renewed.endswith("Z")
    age = datetime.now(UTC) - datetime.fromisoformat(renewed)
    assert abs(age.total_seconds()) < 60


async def test_a_wall_clock_that_jumps_changes_nothing(api: ModelConnection) -> None:
    jumps = [datetime(2026, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)] * 100
    async with leading(api, wall=jumps.pop):
        waiting = asyncio.create_task(work_for(0, api, B, []))
        await asyncio.sleep(100)
        assert holder(api) == A.text
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


class Wall:
    """A clock on the wall that goes with ours, and that somebody can move."""

    def __init__(self) -> None:
        self.moved = timedelta()

    def __call__(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=now()) + self.moved


async def test_a_leader_knows_how_long_nobody_led_before_it(api: ModelConnection) -> None:
    wall = Wall()
    async with leading(api, wall=wall) as first:
        assert first.vacant_for == 0
        await asyncio.sleep(100)
    await asyncio.sleep(3600)
    async with leading(api, B, wall=wall) as second:
        await asyncio.sleep(100)
        assert second.vacant_for == pytest.approx(3600, abs=1), "renewals of its own don't count"


async def test_a_leader_knows_what_the_one_before_it_noted_on_the_lease(
    api: ModelConnection,
) -> None:
    assert api.model.stored is not None
    api.model.stored["metadata"]["annotations"] = {"growth.dev/installation": "{}"}
    async with leading(api) as leadership:
        assert leadership.annotations == {"growth.dev/installation": "{}"}


async def test_of_a_leader_that_was_cut_off_the_time_counts_from_its_last_renewal(
    api: ModelConnection,
) -> None:
    wall = Wall()
    await killed_while_leading(api, A, wall=wall)
    await asyncio.sleep(3600)
    async with leading(api, wall=wall) as again:
        assert again.vacant_for == pytest.approx(3600, abs=5)


@pytest.mark.parametrize(
    "text", [None, "", "yesterday", "2026-01-01T00:00:00", "2030-01-01T00:00:00Z"]
)
async def test_a_lease_that_tells_no_time_that_could_be_is_taken_for_a_fresh_one(
    text: str | None,
) -> None:
    lease = Lease(LeaseMetadata("uid", "1"), LeaseSpec(renew_time=text))
    assert seconds_without_a_leader(lease, datetime(2026, 1, 1, tzinfo=UTC)) == 0


async def test_a_deleted_lease_is_made_again_by_its_leader(api: ModelConnection) -> None:
    async with leading(api) as leadership:
        waiting = asyncio.create_task(work_for(0, api, B, []))
        await asyncio.sleep(5)
        api.model.delete()
        await asyncio.sleep(60)
        leadership.check()
        assert holder(api) == A.text
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_leader_whose_lease_another_holds_ends_at_its_next_call(
    api: ModelConnection,
) -> None:
    asyncio.get_running_loop().call_at(5, steal, api.model)
    with pytest.raises(LeadershipLost, match="another candidate holds"):
        async with leading(api):
            await forever()
    assert now() < 5 + SETTINGS.retry
    assert holder(api) == "x"


def steal(model: LeaseModel) -> None:
    seen = model.read()
    assert seen is not None
    model.patch(holding_patch(seen, holder="x", duration=15, now=wall_clock()))


async def test_failed_calls_are_counted_and_outlived_within_the_deadline(
    api: ModelConnection,
) -> None:
    registry = CollectorRegistry()
    async with leading(api, registry=registry) as leadership:
        assert registry.get_sample_value("growth_leader") == 1
        assert registry.get_sample_value("growth_leader_transitions") == 1
        api.error = Unreachable("the server restarts")
        await asyncio.sleep(SETTINGS.renew_deadline - 3)
        api.error = None
        await asyncio.sleep(60)
        leadership.check()
        failures = registry.get_sample_value("growth_leader_renew_failures_total")
        assert failures is not None
        assert 3 <= failures <= 6
    assert registry.get_sample_value("growth_leader") == 0


async def test_a_leader_asked_to_wait_long_still_tries_within_its_deadline(
    api: ModelConnection,
) -> None:
    async with leading(api) as leadership:
        api.error = RetryLater("too many requests", after=60)
        await asyncio.sleep(SETTINGS.renew_deadline - 3.5)
        api.error = None
        await asyncio.sleep(60)
        leadership.check()


async def test_a_candidate_asked_to_wait_waits(api: ModelConnection) -> None:
    api.error = RetryLater("too many requests", after=12)
    waiting = asyncio.create_task(work_for(0, api, A, []))
    await asyncio.sleep(12 * 5)
    assert len(api.requests) <= 6
    api.error = None
    await waiting


async def test_a_candidate_that_may_not_read_the_lease_says_so_at_once(
    api: ModelConnection,
) -> None:
    api.error = Denied("get leases in growth: no (403); give this user a role")
    with pytest.raises(Misconfigured, match="give this user a role"):
        async with leading(api):
            pass


async def test_a_lease_whose_namespace_is_missing_is_a_mistake_told_at_once() -> None:
    api = ModelConnection()
    api.namespace_is_missing = True
    with pytest.raises(Misconfigured, match='namespace "growth" of the Lease doesn\'t exist'):
        async with leading(api):
            pass


async def test_rights_that_are_lost_for_a_moment_cost_nothing(api: ModelConnection) -> None:
    async with leading(api) as leadership:
        api.error = Denied("patch leases in growth: no (403)")
        await asyncio.sleep(5)
        api.error = None
        await asyncio.sleep(60)
        leadership.check()


async def test_a_failed_give_back_is_not_the_works_failure(api: ModelConnection) -> None:
    async with leading(api):
        api.error = Unreachable("gone")


async def test_an_earlier_run_that_is_proven_dead_is_succeeded_at_once(
    api: ModelConnection,
) -> None:
    await killed_while_leading(api, A)
    started = now()
    async with leading(api, Identity("a", "run2", "here")):
        assert now() < started + 0.1


async def test_a_second_process_of_the_same_name_waits(api: ModelConnection) -> None:
    await killed_while_leading(api, A)
    started = now()
    async with leading(api, Identity("a", "run2", place=None)):
        assert now() > started + SETTINGS.lease_duration - SETTINGS.retry


async def killed_while_leading(
    api: ModelConnection, who: Identity, *, wall: Callable[[], datetime] = wall_clock
) -> None:
    """What remains in the Lease when a process dies: it can't give anything back."""
    with contextlib.suppress(Unreachable):
        async with leading(api, who, wall=wall):
            await asyncio.sleep(3)
            api.error = Unreachable("dead")
    api.error = None


async def test_who_loses_the_lease_stands_again(api: ModelConnection) -> None:
    terms: list[float] = []

    async def work(_: Leadership) -> None:
        terms.append(now())
        await forever()

    asyncio.get_running_loop().call_at(5, steal, api.model)
    task = asyncio.create_task(lead_repeatedly(lambda: leading(api), work))
    await asyncio.sleep(5 + 2 * SETTINGS.lease_duration)
    assert len(terms) == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert holder(api) == ""


async def test_who_is_cancelled_and_then_loses_the_lease_does_not_stand_again(
    api: ModelConnection,
) -> None:
    async def work(_: Leadership) -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(2 * SETTINGS.lease_duration)

    task = asyncio.create_task(lead_repeatedly(lambda: leading(api), work))
    await asyncio.sleep(1)
    api.answers.clear()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(3 * SETTINGS.lease_duration):
            await task


async def test_who_is_cancelled_as_its_work_ends_does_not_stand_again(
    api: ModelConnection,
) -> None:
    async def work(_: Leadership) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await forever()

    task = asyncio.create_task(lead_repeatedly(lambda: leading(api), work))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(SETTINGS.lease_duration):
            await task


async def test_who_loses_the_lease_as_its_work_ends_stands_again(api: ModelConnection) -> None:
    terms: list[float] = []

    async def work(_: Leadership) -> None:
        terms.append(now())
        await asyncio.sleep(60)
        renewed = max(at for at, method in api.requests if method == "PATCH")
        api.answers.clear()
        await asyncio.sleep(renewed + SETTINGS.renew_deadline - now())
        # Whoever keeps the Lease fails now, and the group hears of it after this.
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(10, api.answers.set)

    task = asyncio.create_task(lead_repeatedly(lambda: leading(api), work))
    await asyncio.sleep(200)
    assert len(terms) > 1
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@dataclasses.dataclass
class Crowd:
    """Three candidates that end at random, cleanly or killed, and when each of them led."""

    chance: Random
    led: list[tuple[float, float, bool]] = dataclasses.field(default_factory=list)
    model: LeaseModel = dataclasses.field(default_factory=LeaseModel)

    async def live(self, seconds: float) -> None:
        self.model.install()
        async with asyncio.TaskGroup() as tasks:
            lives = [tasks.create_task(self.life(name)) for name in "abc"]
            await asyncio.sleep(seconds)
            for life in lives:
                life.cancel()

    async def life(self, name: str) -> None:
        for run in itertools.count():
            api = ModelConnection(self.model)
            async with leading(api, Identity(name, f"run{run}")):
                await self.work(api)

    async def work(self, api: ModelConnection) -> None:
        start, killed = now(), self.chance.random() < 0.5
        try:
            await asyncio.sleep(self.chance.expovariate(1 / 30))
        finally:
            self.led.append((start, now(), killed))
            api.error = Unreachable("dead processes say nothing") if killed else None


@pytest.mark.parametrize("seed", range(2))
async def test_in_a_crowd_one_leads_at_nearly_all_times_and_never_two(seed: int) -> None:
    crowd = Crowd(Random(seed))
    await crowd.live(500)
    led = sorted(crowd.led)
    assert len(led) > 10
    for (_, end, killed), (start, _, _) in itertools.pairwise(led):
        gap = SETTINGS.lease_duration + 2 if killed else 0.1
        assert end <= start < end + gap
