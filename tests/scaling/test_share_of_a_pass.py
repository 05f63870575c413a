"""A pass looks at a part of all pools, the next ones at the others, so that no pass takes long."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given as drawn
from hypothesis import strategies as st

from reconciler import scaling
from reconciler.scaling.ledger import ScalingLedger
from reconciler.scaling.pass_share import PassShare
from reconciler.scaling.scene import scaling_scene_of
from reconciler.scaling.utilisation.policy import sized_by_utilisation
from tests.reconciler.build import at, pool
from tests.scaling.test_what_a_pool_by_utilisation_sees import given, node, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.keeping.size import PoolSize
    from reconciler.core.world import World

TAINT = {"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1700000000"}
BY_UTILISATION = {"policy": "Utilisation"}
NAMES = [f"p{number}" for number in range(6)]


@drawn(st.integers(1, 100), st.lists(st.integers(0, 300), max_size=20))
def test_only_the_first_work_may_be_more_than_the_share(most: int, works: list[int]) -> None:
    share = PassShare(most)
    taken = [work for work in works if share.takes(work)]
    assert taken[:1] == works[:1]
    assert sum(taken) <= max(most, *taken[:1], 0)


def six() -> World:
    """Six pools with two nodes and two pods each, of which one node is marked."""
    pools = [pool(name, scaling=BY_UTILISATION) for name in NAMES]
    nodes = [
        each
        for name in NAMES
        for each in (node(f"{name}-a", name), node(f"{name}-b", name, taints=[TAINT]))
    ]
    pods = [pod(f"{name}-{each}", "1", on=f"{name}-a", of=name) for name in NAMES for each in "xy"]
    return given(*pools, *nodes, *pods)


def decided(world: World, share: PassShare) -> dict[str, PoolSize]:
    """What one pass decides that may look at so much."""
    scene = msgspec.structs.replace(scaling_scene_of(world), share=share)
    ledger = replace(world.ledger, scaling=replace(world.ledger.scaling, scene=scene))
    seen = world.remembering(ledger)
    return {name: sized_by_utilisation(seen, world.pools[name], at(0)) for name in NAMES}


def test_pools_that_get_no_turn_are_asked_again_at_once_and_keep_their_marks() -> None:
    sizes = decided(six(), PassShare(8))
    # Two nodes with two pods are four.
    assert [name for name, size in sizes.items() if size.decided_at == 0] == NAMES[:2]
    for name in NAMES[2:]:
        assert sizes[name].wake_at == 0
        assert sizes[name].closed == {f"{name}-b"}
        assert not sizes[name].surplus


def test_every_pool_gets_its_turn_within_a_few_passes() -> None:
    world = six()
    for passes in range(1, 4):
        world = after_a_pass(world)
        sizes = world.ledger.scaling.sizes.values()
        assert sum(size.decided_at == 0 for size in sizes) == 2 * passes
    assert all(size.wake_at > 0 for size in world.ledger.scaling.sizes.values())


def after_a_pass(world: World) -> World:
    sizes = decided(world, PassShare(8))
    return world.remembering(replace(world.ledger, scaling=ScalingLedger(sizes=sizes)))


def test_pools_decide_the_same_one_after_the_other_and_together() -> None:
    world = six()
    together = scaling.decide(world, at(0)).section.sizes
    for _ in range(3):
        world = after_a_pass(world)
    assert apart_from_time(world.ledger.scaling.sizes) == apart_from_time(together)


def apart_from_time(sizes: Mapping[str, PoolSize]) -> dict[str, PoolSize]:
    """What stands is asked for again when its own interval ends, a little early."""
    return {name: msgspec.structs.replace(sizes[name], wake_at=0.0) for name in NAMES}
