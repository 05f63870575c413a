"""What a workload should have: sources, directions, and what has to wait."""

from __future__ import annotations

import itertools
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.hvpa import UpdateMode
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Margin, Sized
from sizing.rule.blocking import BlockReason, Occasion, ScaleRules
from sizing.rule.evidence import CountChange, evidence_of, reason_to_doubt
from sizing.rule.sizing import PresentSize, Recommendation, SizeSource, size_of_workload
from sizing.rule.windows import MaintenanceWindow
from tests.sizing.build import (
    HEAP,
    MAIN,
    NOW,
    after,
    applied,
    blind,
    cores,
    cpu_of,
    decided,
    entry,
    gibibytes,
    hpa,
    replicas_along,
    rules,
    running,
    vpa,
)

if TYPE_CHECKING:
    from sizing.rule.sizing import SizeDecision

UP = [0.1, 0.5, 0.6, 2, 2.1, 6, 6.1, 12]
STEEPLY_DOWN = [12, 4.2, 2, 1.4, 0.8, 0.35, 0.1]


def test_a_load_goes_up_the_stairs_at_the_maxima_and_down_at_the_minima() -> None:
    assert replicas_along(UP, by=rules()) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert replicas_along(STEEPLY_DOWN, by=rules()) == [4, 4, 3, 3, 2, 2, 1]


def test_a_slow_fall_leaves_replicas_when_fewer_pods_are_as_small_as_at_the_minimum() -> None:
    """At 4.2 cores, four pods have 1.05 each; three have that at 3.15."""
    loads = [12 - step / 100 for step in range(1195)]
    found = replicas_along(loads, by=rules())
    fewer = [
        (load, after)
        for load, (before, after) in zip(loads[1:], itertools.pairwise(found), strict=True)
        if before != after
    ]
    assert [after for _, after in fewer] == [3, 2, 1]
    assert [load for load, _ in fewer] == pytest.approx([3.15, 0.92, 0.17], abs=0.02)


def test_replicas_that_wait_go_on_waiting_while_the_load_is_steady() -> None:
    first = decided(running(4, 1.05), vpa(cpu=cores(4)))
    again = decided(applied(first), vpa(cpu=cores(4)))
    assert (first.size.replicas, cpu_of(first)) == (4, 1)
    assert (again.size, again.held) == (first.size, {MAIN: cores(1.05)})
    below = decided(applied(again), vpa(cpu=cores(3.15)))
    assert (below.size.replicas, cpu_of(below), below.held) == (3, 1.05, {})


def test_a_load_that_swings_around_a_boundary_changes_the_replicas_once() -> None:
    swings = [2.0 * (1 + 0.05 * (-1) ** step) for step in range(60)]
    found = replicas_along([1.9, *swings], by=rules())
    assert sum(one != other for one, other in itertools.pairwise(found)) == 1


def test_the_resource_that_needs_most_replicas_decides() -> None:
    found = decided(running(1, 1, 1), vpa(cpu=cores(4), memory=gibibytes(26)))
    assert found.size.replicas == 4
    assert found.decided_by is not None
    assert found.decided_by.part == HEAP


def test_either_source_alone_is_enough() -> None:
    for said in (vpa(cpu=cores(4)), hpa(cpu=cores(4))):
        assert decided(running(1), said).size.replicas == 3
    assert decided(running(1), vpa(cpu=cores(1)), hpa(cpu=cores(4))).size.replicas == 3


def test_a_pod_gets_its_part_of_the_total() -> None:
    assert cpu_of(decided(running(1), vpa(cpu=cores(5)))) == pytest.approx(5 / 3, abs=0.001)


def test_more_replicas_never_make_a_pod_smaller_while_the_total_rises() -> None:
    found = decided(running(1, 0.5), vpa(cpu=cores(0.6)))
    assert (found.size.replicas, cpu_of(found)) == (2, 0.5)


def test_replicas_wait_on_the_way_down_until_pods_need_not_grow() -> None:
    found = decided(running(2, 0.2), vpa(cpu=cores(0.3)))
    assert (found.size.replicas, cpu_of(found)) == (2, 0.15)
    assert found.held == {MAIN: cores(0.2)}
    assert found.blocked is None


def test_a_wait_that_leaves_everything_as_it_is_is_told() -> None:
    by = rules(min_allowed={MAIN: cores(0.2)})
    found = decided(running(2, 0.2), vpa(cpu=cores(0.3)), by=by)
    assert found.blocked is not None
    assert found.blocked.reason is BlockReason.PARADOXICAL_SCALING


def test_each_replica_gets_its_base_when_their_number_changes() -> None:
    base = {MEMORY: Margin(percentage=Fraction(10)), CPU: Margin(value=cores(0.1))}
    present = running(1, 0.15, 1)
    said = vpa(cpu=cores(1.2), memory=gibibytes(3))
    found = decided(present, said, by=rules(base=base))
    assert found.size.replicas == 2
    assert cpu_of(found) == pytest.approx((1.2 - 0.1) / 2 + 0.1)
    same = decided(running(2, 0.15, 1), said, by=rules(base=base))
    assert cpu_of(same) == 0.6


def test_a_fixed_size_is_that_of_the_spec() -> None:
    found = decided(
        running(1, 0.3), vpa(cpu=cores(1.2)), by=rules(entry(5, 0.5, how="horizontalOnly"))
    )
    assert (found.size.replicas, cpu_of(found)) == (3, 0.5)


def test_limits_keep_their_ratio_or_the_gap_of_the_spec() -> None:
    present = running(1, 0.5, limits={MAIN: cores(1)})
    assert decided(present, vpa(cpu=cores(1.5))).size.limits == {MAIN: 1500}
    gap = {CPU: Margin(value=cores(1), percentage=Fraction(80))}
    found = decided(present, vpa(cpu=cores(1.5)), by=rules(limits_gap=gap))
    assert found.size.limits == {MAIN: 750 + 1200 // 2}


def test_a_memory_limit_stays_above_what_is_in_use() -> None:
    part = {HEAP: gibibytes(2)}
    present = PresentSize(replicas=1, requests=part, limits=part, used={HEAP: gibibytes(1)})
    found = decided(present, vpa(memory=gibibytes(0.5)))
    assert found.size.requests == {HEAP: 1 << 29}
    assert found.size.limits == {HEAP: -(-(1 << 30) * 12 // 10)}


def test_a_blind_source_keeps_what_there_is_and_another_can_still_grow_it() -> None:
    present = running(3, 1)
    unavailable = decided(present, blind(SizeSource.VPA))
    assert unavailable.blocked is not None
    assert unavailable.blocked.reason is BlockReason.SOURCE_UNAVAILABLE
    less = decided(present, blind(SizeSource.VPA), hpa(cpu=cores(0.2)))
    assert (less.size.replicas, cpu_of(less)) == (3, 1)
    more = decided(present, blind(SizeSource.VPA), hpa(cpu=cores(5)))
    assert more.size.replicas == 3
    assert cpu_of(more) > 1


def test_a_container_whose_size_stays_still_adds_replicas_for_the_hpa() -> None:
    by = rules(not_sized=frozenset({"main"}))
    found = decided(running(1, 0.5), hpa(cpu=cores(4)), vpa(cpu=cores(9)), by=by)
    assert (found.size.replicas, cpu_of(found)) == (3, 0.5)


def test_a_workload_without_replicas_is_left_alone() -> None:
    found = decided(running(0, 1), vpa(cpu=cores(5)))
    assert found.blocked is not None
    assert found.blocked.reason is BlockReason.REPLICAS_ZERO


WINDOW = MaintenanceWindow.parse("220000+0000", "020000+0000")
BIG_STEPS = {CPU: Margin(value=cores(1), percentage=Fraction(10))}


@pytest.mark.parametrize(
    ("scale", "at", "reason", "until"),
    [
        (ScaleRules(mode=UpdateMode.OFF, min_change=BIG_STEPS), after(1), "UpdatePolicy", None),
        (
            ScaleRules(min_change=BIG_STEPS, stabilisation=timedelta(minutes=5)),
            after(1),
            "StabilizationWindow",
            NOW + timedelta(minutes=4),
        ),
        (
            ScaleRules(mode=UpdateMode.MAINTENANCE_WINDOW, min_change=BIG_STEPS),
            after(9),
            "MaintenanceWindow",
            NOW + timedelta(hours=10),
        ),
        (ScaleRules(min_change=BIG_STEPS), after(9), "MinChange", None),
    ],
)
def test_a_change_that_waits_says_why_and_until_when(
    scale: ScaleRules, at: Occasion, reason: str, until: object
) -> None:
    by = rules(scale_up=scale, window=WINDOW)
    found = decided(running(1, 0.1), vpa(cpu=cores(0.3)), by=by, at=at)
    assert found.blocked is not None
    assert (found.blocked.reason.value, found.blocked.until) == (reason, until)
    assert (found.size.replicas, cpu_of(found)) == (1, 0.1)
    assert found.wanted.requests == {MAIN: 300}


def test_a_pod_that_ran_out_of_memory_grows_at_once() -> None:
    slow = ScaleRules(min_change=BIG_STEPS, stabilisation=timedelta(minutes=5))
    at = after(1, has_run_out=True)
    by = rules(scale_up=slow, scale_down=slow)
    assert cpu_of(decided(running(1, 0.1), vpa(cpu=cores(0.3)), by=by, at=at)) == 0.3
    assert cpu_of(decided(running(1, 0.4), vpa(cpu=cores(0.3)), by=by, at=at)) == 0.4


def test_a_throttled_pod_grows_by_less_than_the_least_change() -> None:
    by = rules(scale_up=ScaleRules(min_change=BIG_STEPS))
    at = after(9, throttled=frozenset({MAIN}))
    assert cpu_of(decided(running(1, 0.1), vpa(cpu=cores(0.3)), by=by, at=at)) == 0.3


STEPS = st.sampled_from([1, 2, 3, 4, 5])
LOADS = st.integers(1, 45_000).map(Fraction)


def said_of(containers: dict[str, tuple[Fraction, Fraction]]) -> list[Recommendation]:
    """Two recommendations for each container, as if they came from two sources."""
    return [
        Recommendation(source=source, totals={Sized(name, CPU): total})
        for name, totals in containers.items()
        for source, total in zip(SizeSource, totals, strict=True)
    ]


@st.composite
def decisions(draw: st.DrawFn) -> tuple[PresentSize, list[Recommendation]]:
    containers = draw(st.dictionaries(st.sampled_from("abc"), st.tuples(LOADS, LOADS), min_size=1))
    requests = {Sized(name, CPU): draw(LOADS) for name in containers}
    return PresentSize(replicas=draw(STEPS), requests=requests), said_of(containers)


@given(decisions(), st.randoms())
def test_the_order_of_recommendations_does_not_matter(
    case: tuple[PresentSize, list[Recommendation]], random: object
) -> None:
    present, said = case
    mixed = list(said)
    random.shuffle(mixed)  # type: ignore[attr-defined]

    def outcome(order: list[Recommendation]) -> SizeDecision:
        return size_of_workload(rules(), present, order, Occasion(now=NOW))

    assert outcome(mixed) == outcome(said)


@given(decisions(), st.integers(0, 500).map(Fraction), st.integers(0, 50).map(Fraction))
def test_no_pod_changes_against_the_direction_of_its_total(
    case: tuple[PresentSize, list[Recommendation]], value: Fraction, percentage: Fraction
) -> None:
    present, said = case
    by = rules(base={CPU: Margin(value=value, percentage=percentage)})
    found = size_of_workload(by, present, said, Occasion(now=NOW))
    for part, request in present.requests.items():
        before = request * present.replicas
        total = max(one.totals[part] for one in said if part in one.totals)
        if total > before:
            assert found.size.requests[part] >= request
        elif total < before:
            assert found.size.requests[part] <= request


@given(decisions())
def test_all_pods_together_have_every_total(case: tuple[PresentSize, list[Recommendation]]) -> None:
    present, said = case
    size = decided(present, *said).size
    for one in said:
        for part, total in one.totals.items():
            assert size.requests[part] * size.replicas >= total


@given(decisions())
def test_a_decision_that_is_applied_is_not_decided_again(
    case: tuple[PresentSize, list[Recommendation]],
) -> None:
    """Sizes may follow once to the exact total; after that, the same totals change nothing."""
    present, said = case
    second = applied(decided(applied(decided(present, *said)), *said))
    third = decided(second, *said)
    assert applied(third) == second


def test_a_stale_recommendation_counts_as_the_total_of_its_time() -> None:
    """One pod became two, and the VPA still says what it said of one."""
    change = CountChange(before=1, after=2, target=cores(0.9), total=cores(0.9))
    stale = evidence_of(cores(0.9), replicas=2, change=change)
    assert (stale.total, stale.is_stale) == (cores(0.9), True)
    halfway = evidence_of(cores(0.6), replicas=2, change=change)
    assert (halfway.total, halfway.is_stale) == (cores(0.9), True)
    grown = evidence_of(cores(0.9), replicas=2, change=change, used=cores(1.6))
    assert grown.total == cores(1.84)
    news = evidence_of(cores(1.2), replicas=2, change=change)
    assert (news.total, news.is_stale) == (cores(2.4), False)
    assert evidence_of(cores(0.9), replicas=2, change=None).total == cores(1.8)


def test_without_the_evidence_rule_a_steady_load_would_grow_twice() -> None:
    by = rules()
    first = decided(running(1, 0.5), vpa(cpu=cores(1.038)), by=by)
    assert first.size.replicas == 2
    naive = decided(running(2, 0.519), vpa(cpu=2 * cores(1.038)), by=by)
    assert naive.size.replicas == 3
    change = CountChange(before=1, after=2, target=cores(1.038), total=cores(1.038))
    total = evidence_of(cores(1.038), replicas=2, change=change).total
    assert decided(running(2, 0.519), vpa(cpu=total), by=by).size.replicas == 2


@pytest.mark.parametrize(
    ("conditions", "samples", "words"),
    [
        ({"RecommendationProvided": "True"}, 8, None),
        ({"RecommendationProvided": "True"}, 7, "7 of 8 samples"),
        ({"RecommendationProvided": "False"}, 99, "no recommendation"),
        ({"RecommendationProvided": "True", "NoPodsMatched": "True"}, 99, "finds no pods"),
        ({"ConfigUnsupported": "True"}, None, "doesn't support"),
    ],
)
def test_conditions_count_before_numbers(
    conditions: dict[str, str], samples: int | None, words: str | None
) -> None:
    doubt = reason_to_doubt(conditions, samples)
    assert doubt is None if words is None else words in (doubt or "")


def test_requests_that_are_limits_stay_so_even_if_a_limit_may_not_fall() -> None:
    parts = {MAIN: cores(1), HEAP: gibibytes(2)}
    present = PresentSize(replicas=1, requests=parts, limits=parts, used={HEAP: gibibytes(1)})
    found = decided(present, vpa(cpu=cores(0.5), memory=gibibytes(0.5)))
    assert found.size.requests == found.size.limits
    assert found.size.limits[HEAP] == gibibytes(1.2).__ceil__()


def test_a_source_that_is_not_believed_adds_no_replicas() -> None:
    # Right after a change, the pods may have more than the intervals have for their number.
    found = decided(running(3, 3.45), blind(SizeSource.HPA), vpa(cpu=cores(3.45)))
    assert (found.size.replicas, cpu_of(found)) == (3, 3.45)


def test_after_several_changes_of_replicas_an_old_recommendation_is_still_known_for_one() -> None:
    # It was for one pod with 3.45 cores, and its workload had 3 and 4 replicas since.
    change = CountChange(before=4, after=3, target=cores(3.4), total=cores(3.45))
    later = evidence_of(cores(2.9), replicas=3, change=change)
    assert later == (cores(3.45), True)
    assert not evidence_of(cores(1), replicas=3, change=change).is_stale


def test_a_wait_for_fewer_replicas_lasts_while_their_change_is_blocked() -> None:
    """Otherwise it would begin anew with smaller pods, again and again."""
    held = {MAIN: cores(0.83)}
    by = rules(scale_down=ScaleRules(min_change={"cpu": Margin(value=cores(0.2))}))
    found = decided(running(4, 0.66, held=held), vpa(cpu=cores(2.48)), by=by)
    assert found.wanted.replicas == 3
    assert found.blocked is not None
    assert found.held == held


def test_a_wait_for_fewer_replicas_lasts_while_a_source_is_not_believed() -> None:
    held = {MAIN: cores(0.83)}
    said = (blind(SizeSource.HPA), vpa(cpu=cores(2.4)))
    assert decided(running(4, 0.66, held=held), *said).held == held
    assert decided(running(4, 0.66, held=held), vpa(cpu=cores(5))).held == {}
