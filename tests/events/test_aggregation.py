"""What is written of what is seen: never too often, never too much, and nothing kept for ever."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from growth.kube.events import EventLimits
from growth.kube.events.aggregation import Aggregation, Create, Dropped, Extend, Write
from tests.events.stories import no_place, wall

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMITS = EventLimits()


def aggregation(limits: EventLimits = LIMITS) -> Aggregation:
    return Aggregation(limits, now=0)


def test_the_first_observation_is_written_at_once() -> None:
    write = aggregation().observe(no_place(), now=5, wall=wall(5))
    assert write == Create(no_place(), count=1, observed=wall(5))


def test_repetitions_wait_for_the_end_of_the_window_and_are_told_as_one() -> None:
    seen = aggregation()
    seen.observe(no_place(), now=0, wall=wall(0))
    for now in (1, 2, 200):
        assert seen.observe(no_place(), now=now, wall=wall(now)) is None
    assert seen.wake_at == 300
    assert seen.due(299.9) == []
    assert seen.due(300) == [Extend(no_place(), count=4, more=3, observed=wall(200))]


def test_a_subject_without_repetition_is_forgotten_and_may_be_told_anew() -> None:
    seen = aggregation()
    seen.observe(no_place(), now=0, wall=wall(0))
    assert seen.due(300) == []
    assert len(seen) == 0
    assert isinstance(seen.observe(no_place(), now=301, wall=wall(301)), Create)


def test_what_goes_on_is_told_more_and_more_seldom() -> None:
    seen, told = aggregation(), []
    for now in range(0, 4 * 3600, 10):
        seen.observe(no_place(), now=now, wall=wall(now))
        told += [now] * len(seen.due(now))
    assert told[:5] == [300, 900, 2100, 3900, 5700]


def test_new_words_within_the_window_are_told_at_its_end_as_a_new_event() -> None:
    seen, other = aggregation(), no_place(note="needs 97Gi of memory")
    seen.observe(no_place(), now=0, wall=wall(0))
    assert seen.observe(other, now=10, wall=wall(10)) is None
    assert seen.due(300) == [Create(other, count=1, observed=wall(10))]
    seen.observe(other, now=400, wall=wall(400))
    assert seen.due(900) == [Extend(other, count=2, more=1, observed=wall(400))]


def test_one_reason_leaves_half_of_the_budget_to_the_others() -> None:
    seen = aggregation()
    flood = [seen.observe(no_place(n), now=0, wall=wall(0)) for n in range(1000)]
    assert sum(isinstance(write, Create) for write in flood) == LIMITS.per_minute / 4
    assert flood[-1] is None
    alone = no_place(1, reason="RemovalFailed")
    assert isinstance(seen.observe(alone, now=0, wall=wall(0)), Create)


def test_all_reasons_together_get_no_more_than_the_whole_budget() -> None:
    seen = aggregation()
    flood = [
        seen.observe(no_place(number, reason=reason), now=0, wall=wall(0))
        for reason in ("NoPlace", "BackOff", "RemovalFailed")
        for number in range(100)
    ]
    assert sum(isinstance(write, Create) for write in flood) == LIMITS.per_minute / 2


def test_those_who_wait_are_told_in_their_order_and_newcomers_stand_behind_them() -> None:
    seen = aggregation(EventLimits(per_minute=4))
    first = [seen.observe(no_place(n), now=0, wall=wall(0)) for n in range(3)]
    assert [bool(write) for write in first] == [True, False, False]
    assert seen.observe(no_place(3), now=60, wall=wall(60)) is None
    later = [write for now in range(60, 600) for write in seen.due(now)]
    told = [write.event.regarding.name for write in later if isinstance(write, Create)]
    assert told == ["web-1", "web-2", "web-3"]


def test_old_news_is_dropped_when_its_turn_comes() -> None:
    seen = aggregation(EventLimits(per_minute=4, longest_window=300))
    for number in range(9):
        seen.observe(no_place(number), now=0, wall=wall(0))
    later = [write for now in range(900) for write in seen.due(now)]
    assert later.count(Dropped.LATE) == 3
    assert len(seen) == 0


def test_the_end_of_a_window_without_budget_is_told_later_and_loses_no_count() -> None:
    seen = aggregation(EventLimits(per_minute=8))
    for number in range(2):
        seen.observe(no_place(number), now=0, wall=wall(0))
        seen.observe(no_place(number), now=1, wall=wall(1))
    for number in range(10, 12):
        assert isinstance(seen.observe(no_place(number), now=299, wall=wall(299)), Create)
    assert seen.due(300) == []
    later = [write for now in range(301, 400) for write in seen.due(now)]
    assert [write.count for write in later if isinstance(write, Extend)] == [2, 2]


def test_an_event_from_before_a_restart_goes_on_with_its_count() -> None:
    seen = aggregation()
    seen.observe(no_place(), now=0, wall=wall(0))
    seen.adopt(no_place(), count=7, more=1)
    seen.observe(no_place(), now=5, wall=wall(5))
    assert seen.due(300) == [Extend(no_place(), count=9, more=2, observed=wall(5))]


def test_more_subjects_than_can_be_remembered_are_not_told() -> None:
    seen = aggregation(EventLimits(subjects=2))
    told = [seen.observe(no_place(n), now=0, wall=wall(0)) for n in range(3)]
    assert told[2] is Dropped.FULL


observations = st.tuples(
    st.sampled_from([0.0, 0.1, 1.0, 7.0, 61.0, 299.0, 301.0, 2000.0]),
    st.integers(0, 12),
    st.sampled_from(["NoPlace", "RemovalFailed", "BackOff"]),
    st.sampled_from(["some words", "other words"]),
    st.integers(1, 30),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(observations, max_size=60), st.sampled_from([2, 8, 30]))
def test_no_minute_and_no_subject_is_ever_written_more_often_than_allowed(
    story: list[tuple[float, int, str, str, int]], per_minute: int
) -> None:
    limits = EventLimits(per_minute=per_minute, subjects=20)
    seen, now = aggregation(limits), 0.0
    writes: list[tuple[float, Write]] = []
    for pause, first, reason, note, many in story:
        now += pause
        writes += written(now, seen.due(now))
        for number in range(first, first + many):
            event = no_place(number, reason=reason, note=note)
            writes += written(now, [seen.observe(event, now=now, wall=wall(now))])
        assert len(seen) <= limits.subjects
    assert_within_the_budget(writes, per_minute)
    assert_each_subject_waits(writes)
    while seen.wake_at < float("inf"):
        now = max(seen.wake_at, now)
        seen.due(now)
    assert len(seen) == 0


def written(now: float, results: Sequence[object]) -> list[tuple[float, Write]]:
    return [(now, result) for result in results if isinstance(result, Create | Extend)]


def assert_within_the_budget(writes: list[tuple[float, Write]], per_minute: int) -> None:
    minute: deque[tuple[float, str]] = deque()
    for now, write in writes:
        minute.append((now, write.event.reason))
        while minute[0][0] <= now - 60:
            minute.popleft()
        assert len(minute) <= per_minute
        assert max(Counter(reason for _, reason in minute).values()) <= per_minute / 2


def assert_each_subject_waits(writes: list[tuple[float, Write]]) -> None:
    last: dict[tuple[str, ...], float] = {}
    for now, write in writes:
        assert now - last.get(write.event.subject, float("-inf")) >= LIMITS.window
        last[write.event.subject] = now


def test_a_thousand_pods_without_a_place_stay_within_the_budget_for_a_day() -> None:
    pods = [no_place(number) for number in range(1000)]
    seen, writes = aggregation(), list[tuple[float, Write]]()
    for now in range(0, 24 * 3600, 240):
        for event in pods:
            writes += written(now, [seen.observe(event, now=now, wall=wall(now))])
        for later in range(now, now + 240, 30):
            writes += written(later, seen.due(later))
    assert_within_the_budget(writes, LIMITS.per_minute)
    assert_each_subject_waits(writes)
    assert {write.event.regarding for _, write in writes} == {one.regarding for one in pods}
    assert len({msgspec.json.encode(write.event) for _, write in writes}) == 1000
