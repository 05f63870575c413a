"""Random arrivals with faults: nothing that must always hold is ever breached."""

from __future__ import annotations

import pytest

from reconciler.simulation.faults import BY_PEOPLE, SimulatedFault, drawn
from reconciler.simulation.run import RunOutcome, run_story
from reconciler.simulation.story import Story, story
from tests.simulation import today

QUICK = range(1, 4)
QUICK_MINUTES = 12
"""Half as long as those of today: what these seeds find, they found long ago."""
LONG = range(101, 201)
"""10,000 minutes."""
STORM = (
    SimulatedFault.CORDON,
    SimulatedFault.KEPT,
    SimulatedFault.NOTHING_MOVES,
    SimulatedFault.VISITOR,
    SimulatedFault.MACHINE_DIES,
    SimulatedFault.DELETE_FAILS,
    SimulatedFault.RESTART,
)
"""What people do to nodes and pods, and what makes giving back hard."""


BREACHED = (
    (32, 60.0, "cordon,slow-boot"),
    (
        815,
        180.0,
        (
            "watch-cut,event-lost,lost-answer,server-error,foreign-write,stock-out,machine-dies,outage,"
            "partition,pods-missing,node-forgotten,listing-stale,delete-fails,restart,never-ready,"
            "dies-joining"
        ),
    ),
    (
        4711,
        120.0,
        (
            "server-error,foreign-write,stock-out,slow-boot,node-forgotten,listing-empty,listing-stale,"
            "delete-fails"
        ),
    ),
    (
        5008,
        120.0,
        (
            "watch-lag,watch-cut,stale-server,lost-answer,server-error,slow-boot,outage,partition,"
            "pods-missing,node-forgotten,delete-fails,never-ready,dies-joining"
        ),
    ),
    (1795144899, 60.0, "slow-solve,server-error,visitor"),
    (800, 30.0, "spread,affinity,pod-budgets"),
    (
        1795156573,
        60.0,
        "second-writer,restart,node-forgotten,listing-empty,clock-jump,pool-budgets",
    ),
    (
        1795169751,
        120.0,
        (
            "watch-lag,watch-cut,server-error,foreign-write,cloud-throttled,stock-out,machine-dies,"
            "outage,partition,pods-missing,node-forgotten,listing-empty,listing-stale,delete-fails,"
            "freeze,clock-jump,dies-joining,kept,nothing-moves,slow-solve,foreign-node,lying-node,"
            "second-writer,pod-budgets,volumes"
        ),
    ),
    (78949782, 30.0, "cloud-lost-answer,machine-dies,outage,listing-empty,freeze,nothing-moves"),
    (
        78949784,
        30.0,
        (
            "watch-cut,stale-server,server-error,foreign-write,stock-out,outage,partition,pods-missing,"
            "node-forgotten,freeze,clock-jump,never-ready,dies-joining,nothing-moves"
        ),
    ),
    (
        90210,
        150.0,
        (
            "watch-cut,event-lost,lost-answer,server-error,slow-boot,machine-dies,partition,"
            "node-forgotten,listing-empty,listing-broken,listing-stale,freeze,never-ready,dies-joining"
        ),
    ),
    (
        95119233,
        120.0,
        (
            "watch-lag,watch-cut,event-lost,server-error,foreign-write,cloud-lost-answer,"
            "cloud-throttled,stock-out,machine-dies,freeze,dies-joining,kept,visitor"
        ),
    ),
    (
        95119252,
        120.0,
        (
            "watch-lag,event-lost,server-error,foreign-write,slow-boot,machine-dies,partition,"
            "listing-empty,freeze,never-ready,dies-joining,cordon,kept,nothing-moves,visitor"
        ),
    ),
    (
        95119245,
        120.0,
        (
            "watch-cut,stale-server,server-error,stock-out,slow-boot,machine-dies,outage,pods-missing,"
            "clock-jump,dies-joining,visitor"
        ),
    ),
)
"""Seeds that have found something, with the faults that they had then."""


def assert_holds(told: Story) -> RunOutcome:
    outcome = run_story(told)
    assert not outcome.breaches, "\n".join(
        [*outcome.lines, str(outcome.breaches[0]), f"replay: {told.command}"]
    )
    return outcome


@pytest.mark.parametrize("seed", QUICK)
def test_nothing_is_breached_under_the_faults_of_a_seed(seed: int) -> None:
    assert_holds(story(seed, QUICK_MINUTES))


@pytest.mark.parametrize("turn", range(today.SEEDS))
def test_nothing_is_breached_under_the_faults_of_a_seed_of_today(turn: int) -> None:
    """Seeds that were looked at once prove little. What replays them is told at the beginning."""
    assert_holds(story(today.first() + turn, today.MINUTES))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("seed", "minutes", "faults"), BREACHED)
def test_what_was_breached_once_is_breached_no_more(seed: int, minutes: float, faults: str) -> None:
    kinds = tuple(map(SimulatedFault, faults.split(",")))
    assert_holds(Story(seed=seed, minutes=minutes, faults=kinds))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", LONG)
def test_nothing_is_breached_for_ten_thousand_minutes(seed: int) -> None:
    assert_holds(story(seed, 100.0))


def test_nothing_is_breached_in_a_storm() -> None:
    """Half an hour, in which nodes are also replaced by cheaper ones."""
    outcome = assert_holds(Story(seed=3, minutes=30.0, faults=STORM))
    assert outcome.retired
    assert any("Evict" in point for point in outcome.points)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(11, 31))
def test_nothing_is_breached_in_many_storms(seed: int) -> None:
    assert_holds(Story(seed=seed, minutes=30.0, faults=STORM))


@pytest.mark.parametrize(
    ("seeds", "most"),
    [(3, 1.7), pytest.param(24, 1.25, marks=(pytest.mark.long, pytest.mark.timeout(1200)))],
)
def test_faults_cost_little_more(seeds: int, most: float) -> None:
    """What is paid for, in hours of machines: a run and its fault-free twin drift apart by chance.

    Of 24 seeds one by one the ratio had a mean of 1.10 and a deviation of 0.20, of all of them
    together it was 1.07; of three together it is over 1.70 once in ten thousand draws. How many
    machines are bought says less: an idle node that was given back is bought again, and what died
    is bought anew. What people do is left out: a node that they keep costs by right.
    """
    paid = fair = 0.0
    for seed in range(today.first(), today.first() + seeds):
        mistakes = tuple(fault for fault in drawn(seed) if fault not in BY_PEOPLE)
        paid += run_story(Story(seed=seed, minutes=10.0, faults=mistakes)).paid
        fair += run_story(Story(seed=seed, minutes=10.0, faults=())).paid
    assert paid <= most * fair
