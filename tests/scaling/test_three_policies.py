"""Pools of all policies in one cluster: none touches another's nodes or counts its purchases."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

import msgspec
import pytest

from reconciler.simulation.faults import SimulatedFault
from tests.scaling.three import ALL, BY_NUMBER, BY_USE, CALM, DEMAND, MINUTE, MOST, Three

STEPS = 8
SOME_FAULTS = (
    SimulatedFault.WATCH_LAG,
    SimulatedFault.WATCH_CUT,
    SimulatedFault.LOST_ANSWER,
    SimulatedFault.SERVER_ERROR,
    SimulatedFault.CLOUD_LOST_ANSWER,
    SimulatedFault.STOCK_OUT,
    SimulatedFault.RESTART,
    SimulatedFault.CORDON,
    SimulatedFault.NOTHING_MOVES,
)


class Deed(NamedTuple):
    """What people do in one minute."""

    pods: dict[str, int]
    number: int | None
    use: int


def deeds(seed: int, steps: int = STEPS) -> list[Deed]:
    """Pods of each pool, the number of one, and how much all nodes use."""
    chance = Random(seed)
    return [
        Deed(
            pods={name: chance.randrange(20) for name in ALL if chance.random() < 0.5},
            number=chance.randrange(6) if chance.random() < 0.3 else None,
            use=chance.choice([10, 80, 80]),
        )
        for _ in range(steps)
    ]


def done(town: Three, deed: Deed) -> None:
    for name, number in deed.pods.items():
        town.wants(name, number)
    if deed.number is not None:
        town.scaled(deed.number)
    town.measured.usual = deed.use


@cache
def history(seed: int, *pools: str) -> dict[str, list[tuple[int, int]]]:
    """The nodes and the waiting pods of each pool, minute by minute."""
    town = Three(pools)
    told: dict[str, list[tuple[int, int]]] = {name: [] for name in pools}
    for deed in deeds(seed):
        done(town, deed)
        town.passes(MINUTE)
        for name in pools:
            told[name].append((len(town.nodes(name)), town.waiting(name)))
    return told


@pytest.mark.parametrize("name", [BY_USE, BY_NUMBER])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_policy_does_in_company_what_it_does_alone(name: str, seed: int) -> None:
    alone = history(seed, name)[name]
    assert len({nodes for nodes, _ in alone}) > 2, "something happens"
    assert history(seed, *ALL)[name] == alone


def test_pods_of_a_pool_by_demand_get_their_nodes_in_company_as_alone() -> None:
    # What consolidation does when depends on the calm of the whole cluster.
    alone, together = (history(1, *pools)[DEMAND] for pools in ((DEMAND,), ALL))
    assert [waiting for _, waiting in together] == [waiting for _, waiting in alone]


def settled(town: Three, minutes: int) -> None:
    """Everybody stops, and the pools come to what they want."""
    town.measured.usual, town.measured.fails = 80, False
    for name, number in ((DEMAND, 5), (BY_USE, 10), (BY_NUMBER, 4)):
        town.wants(name, number)
    town.scaled(3)
    for name in ALL:
        town.lasts_for_good(name)
    town.passes(minutes * MINUTE)
    assert town.waiting() == 0
    assert len(town.nodes(BY_NUMBER)) == town.status(BY_NUMBER).desired_nodes == 3
    seen = {each.name: each.value for each in town.status(BY_USE).seen}
    assert 40 <= int(seen["cpuPercent"]) <= 70
    assert int(seen["untainted"]) == len(town.nodes(BY_USE))
    used = {pod.spec.node_name for pod in town.server.kind("pods").objects.values()}
    assert set(town.names(DEMAND)) <= used, "idle nodes have gone"


def stormed(seed: int, faults: tuple[SimulatedFault, ...], *, minutes: int) -> Three:
    """People change their minds each minute, and everything that can fails."""
    story = msgspec.structs.replace(CALM, seed=seed, minutes=minutes + 1.0, faults=faults)
    town = Three(story=story, expireAfter="30m", terminationGracePeriod="5m")
    for deed in deeds(seed, minutes):
        done(town, deed)
        town.passes(MINUTE)
        assert all(len(town.nodes(name)) <= 2 * MOST for name in ALL)
    return town


def test_after_some_minutes_of_faults_each_pool_has_what_its_policy_wants() -> None:
    settled(stormed(1, SOME_FAULTS, minutes=5), 20)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(1, 9))
def test_after_a_storm_of_all_faults_each_pool_has_what_its_policy_wants(seed: int) -> None:
    settled(stormed(seed, tuple(SimulatedFault), minutes=20), 75)


def told(kill: str = "") -> Three:
    """All pools grow and shrink once."""
    town = Three(story=msgspec.structs.replace(CALM, kill=kill))
    for number in (8, 2):
        for name in ALL:
            town.wants(name, number)
        town.scaled(number // 2)
        town.passes(4 * MINUTE)
    return town


def end_of(town: Three) -> dict[str, tuple[int, int]]:
    town.passes(12 * MINUTE)
    return {name: (len(town.nodes(name)), town.waiting(name)) for name in ALL}


def assert_converges(*, every: int) -> None:
    undisturbed = told()
    points = list(dict.fromkeys(undisturbed.living.lives.points))
    expected = end_of(undisturbed)
    assert len(points) > 100
    for point in points[::every]:
        assert end_of(told(kill=point)) == expected, f"ended at {point}"


def test_a_restart_at_a_moment_ends_as_without_it() -> None:
    assert_converges(every=139)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_restart_at_any_moment_ends_as_without_it() -> None:
    assert_converges(every=1)
