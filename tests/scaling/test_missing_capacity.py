"""Missing capacity as machines: the least cost over many types, the seed's number with one."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.resources import Resources
from reconciler.scaling.utilisation.bought import missing_capacity
from reconciler.scaling.utilisation.cover import SoldType, cheapest_mix, largest_mix
from reconciler.scaling.utilisation.deciding import Run, RunReason
from reconciler.scaling.utilisation.percent import nodes_missing, utilisation
from tests.scaling.test_a_run_of_utilisation import asked_for, group, node
from tests.scheduling.build import patient


def room(cpu: int, memory: int) -> Resources:
    return Resources({"cpu": cpu, "memory": memory})


def sold(name: str, cpu: int, memory: int, cost: int, most: int = 99) -> SoldType:
    return SoldType(name=name, room=room(cpu, memory), cost=cost, most=most)


@given(
    nodes=st.integers(1, 30),
    cpu=st.integers(0, 90_000),
    memory=st.integers(0, 90_000),
    size=st.tuples(st.integers(500, 8000), st.integers(500, 8000)),
    threshold=st.integers(20, 120),
)
@patient
def test_with_one_type_it_is_the_number_of_nodes_that_the_seed_computes(
    nodes: int, cpu: int, memory: int, size: tuple[int, int], threshold: int
) -> None:
    capacity = room(*size)
    there = [node(f"n{n}", capacity=capacity) for n in range(nodes)]
    demand = asked_for(cpu, memory)
    percent = utilisation(demand.requests, room(nodes * size[0], nodes * size[1]), nodes=nodes)
    if percent.larger <= threshold:
        return
    run = Run(reason=RunReason.ABOVE_THRESHOLD, buys=1)
    missing = missing_capacity(run, group(*there, demand=demand, threshold=threshold))
    mix = cheapest_mix(missing, [sold("one", *size, cost=1, most=10_000)], most=10_000)
    assert mix == {"one": nodes_missing(nodes, percent, threshold=threshold)}


types = st.builds(
    SoldType,
    name=st.sampled_from("abc"),
    room=st.builds(room, st.integers(0, 8), st.integers(0, 8)),
    cost=st.integers(0, 9),
    most=st.integers(0, 4),
)


@given(
    offers=st.lists(types, max_size=3, unique_by=lambda each: each.name),
    missing=st.builds(room, st.integers(0, 20), st.integers(0, 20)),
    most=st.integers(0, 8),
)
@patient
def test_no_mix_is_cheaper(offers: list[SoldType], missing: Resources, most: int) -> None:
    def cost(counts: tuple[int, ...]) -> int:
        return sum(count * each.cost for count, each in zip(counts, offers, strict=True))

    def has_all(counts: tuple[int, ...]) -> bool:
        pairs = list(zip(counts, offers, strict=True))
        return sum(counts) <= most and all(
            sum(count * each.room[name] for count, each in pairs) >= missing[name]
            for name in ("cpu", "memory")
        )

    every = filter(has_all, product(*(range(each.most + 1) for each in offers)))
    least = min(map(cost, every), default=None)
    mix = cheapest_mix(missing, offers, most=most)
    assert (mix is None) == (least is None)
    if mix is not None:
        counts = tuple(mix.get(each.name, 0) for each in offers)
        assert has_all(counts)
        assert cost(counts) == least


@pytest.mark.parametrize("seed", range(6))
def test_many_types_never_cost_more_than_the_best_of_them_alone(seed: int) -> None:
    chance = Random(seed)
    offers = [
        sold(f"t{number}", 1000 * cores, 1024 * size, (cores * 10 + size) * part, most=10**9)
        for number in range(25)
        for cores, size, part in [(chance.randint(1, 64), chance.randint(1, 512), 100)]
    ]
    cpu, memory = chance.randint(10**3, 10**7), chance.randint(10**3, 10**8)
    alone = [
        each.cost * max(-(-cpu // each.room["cpu"]), -(-memory // each.room["memory"]))
        for each in offers
    ]
    mix = cheapest_mix(room(cpu, memory), offers, most=10**9)
    assert mix is not None
    prices = {each.name: each.cost for each in offers}
    assert sum(prices[name] * count for name, count in mix.items()) <= min(alone)


def test_two_resources_are_covered_by_types_that_are_good_at_one_each() -> None:
    offers = [sold("cpu", 8, 1, 2), sold("memory", 1, 8, 2), sold("both", 4, 4, 3)]
    assert cheapest_mix(room(16, 16), offers, most=9) == {"cpu": 2, "memory": 2}
    assert cheapest_mix(room(9, 9), offers, most=9) == {"cpu": 1, "memory": 1}


def test_if_there_are_too_few_machines_they_are_as_large_as_possible() -> None:
    offers = [sold("small", 2, 2, 1), sold("large", 8, 8, 5)]
    assert cheapest_mix(room(99, 99), offers, most=3) is None
    assert largest_mix(offers, room(99, 99), most=3) == {"large": 3}


def test_many_types_and_much_missing_take_no_more_than_the_counted_effort() -> None:
    offers = [sold(f"t{n}", 2 + n % 7, 3 + n % 11, 5 + n % 13) for n in range(40)]
    mix = cheapest_mix(room(997, 1499), offers, most=1000)
    assert mix is not None
    assert sum(count * (2 + int(name[1:]) % 7) for name, count in mix.items()) >= 997
