"""The answers of the scaling policies, as the rules after them read them."""

from __future__ import annotations

from dataclasses import replace

from growth.keeping.size import PoolSize, size_by_demand
from reconciler.facts.sizes import sizes_of_pools
from reconciler.scaling.ledger import ScalingLedger
from tests.reconciler.build import pool, world

FULL = PoolSize(most=1, why="one node is enough")


def test_rules_read_the_answers_of_the_pass_and_make_none_of_their_own() -> None:
    answered = {"default": FULL}
    given = world(pool())
    asked = replace(given.ledger, scaling=ScalingLedger(sizes=answered))

    assert sizes_of_pools(given.remembering(asked)) is answered


def test_pools_that_no_policy_was_asked_about_follow_demand() -> None:
    given = world(pool(), pool("late"))
    asked = replace(given.ledger, scaling=ScalingLedger(sizes={"default": FULL}))

    assert sizes_of_pools(given.remembering(asked)) == {
        "default": FULL,
        "late": size_by_demand(pool()),
    }


def test_the_answer_about_a_pool_that_is_gone_is_not_read() -> None:
    given = world(pool())
    asked = replace(given.ledger, scaling=ScalingLedger(sizes={"default": FULL, "gone": FULL}))

    assert sizes_of_pools(given.remembering(asked)) == {"default": FULL}
