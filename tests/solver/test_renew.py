"""What goes of a cluster, story by story; and clusters too large to look at every set."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.shrunk import shrunk
from reconciler.solver import (
    Effort,
    Limit,
    Offer,
    PodClass,
    Problem,
    RenewableNode,
    Renewal,
    SpreadRule,
)
from reconciler.solver.packing.solving import solve
from reconciler.solver.renewal.renew import renew
from tests.solver.checker import complaints
from tests.solver.renewals import ZONE, moving

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconciler.solver import Renewed

SMALL = Offer(name="small", capacity=(4,), price=10)
LARGE = Offer(name="large", capacity=(16,), price=36)


def asked(
    *nodes: tuple[str, int, int, Mapping[str, int]],
    sold: tuple[Offer, ...] = (SMALL, LARGE),
    **pods: PodClass,
) -> Renewal:
    """A cluster of nodes, each (name, price, free room, pods)."""
    rooms = tuple(Offer(name=n, capacity=(free,), exists=True) for n, _, free, _ in nodes)
    anywhere = frozenset(offer.name for offer in (*sold, *rooms))
    counts = {name: sum(held.get(name, 0) for _, _, _, held in nodes) for name in pods}
    return Renewal(
        problem=Problem(
            resources=("cpu",),
            offers=(*sold, *rooms),
            classes=tuple(
                replace(pod, count=counts[name], offers=pod.offers or anywhere)
                for name, pod in pods.items()
            ),
        ),
        standing=tuple(
            RenewableNode(offer=name, price=price, holds=held, group="pool")
            for name, price, _, held in nodes
        ),
    )


def pod(cpu: int = 1, name: str = "web") -> PodClass:
    """As many as are held, wherever there is room."""
    return PodClass(name=name, requests=(cpu,), count=0, offers=frozenset())


WEB = frozenset({"web"})
ALONE = replace(pod(), marks=WEB, repels=WEB)


def bought(answer: Renewed) -> list[str]:
    return sorted(node.offer for node in answer.plan.nodes if node.price)


def test_a_node_goes_when_its_pods_fit_beside_others() -> None:
    answer = renew(
        asked(("a", 10, 2, {"web": 2}), ("b", 10, 2, {"web": 2}), web=pod()), Effort.QUICK
    )
    assert (len(answer.goes), answer.saving, bought(answer)) == (1, 10, [])


def test_one_dear_node_becomes_several_cheap_ones() -> None:
    question = asked(("dear", 90, 8, {"web": 8}), sold=(SMALL,), web=pod())
    answer = renew(question, Effort.QUICK)
    assert (answer.goes, bought(answer), answer.saving) == (("dear",), ["small", "small"], 70)


def test_several_nodes_become_one() -> None:
    half = [(name, 10, 0, {"web": 4}) for name in "abcd"]
    answer = renew(asked(*half, web=pod()), Effort.QUICK)
    assert (answer.goes, bought(answer), answer.saving) == (tuple("abcd"), ["large"], 4)


def test_nothing_goes_that_disturbs_more_than_it_saves() -> None:
    half = [(name, 10, 0, {"web": 4}) for name in "abcd"]
    question = asked(*half, web=pod())
    disturbed = tuple(replace(node, disturbance=1) for node in question.standing)
    answer = renew(replace(question, standing=disturbed), Effort.QUICK)
    assert (answer.goes, answer.gain, answer.cost) == ((), 0, 40)


def test_no_more_go_than_their_group_lets_go() -> None:
    empty = [(name, 10, 4, dict[str, int]()) for name in "abcd"]
    question = replace(asked(*empty, web=pod()), most={"pool": 3})
    assert len(renew(question, Effort.QUICK).goes) == 3


def test_a_pod_never_comes_to_a_node_where_one_is_that_it_repels() -> None:
    question = asked(("a", 10, 3, {"web": 1}), ("b", 10, 3, {"web": 1}), web=ALONE)
    marked = tuple(
        replace(o, marks=WEB, repels=WEB) if o.exists else o for o in question.problem.offers
    )
    answer = renew(
        replace(question, problem=replace(question.problem, offers=marked)), Effort.QUICK
    )
    assert answer.goes == ()


def test_pods_that_repel_each_other_stay_apart_where_they_move_to() -> None:
    question = asked(("a", 30, 0, {"web": 1}), ("b", 30, 0, {"web": 1}), web=ALONE)
    assert bought(renew(question, Effort.QUICK)) == ["small", "small"]


def test_what_limits_leave_is_all_that_is_bought() -> None:
    dear = [(name, 90, 0, {"web": 4}) for name in "ab"]
    question = asked(*dear, sold=(SMALL,), web=pod())
    limit = Limit(name="nodes", amounts={"small": 1}, most=1)
    answer = renew(
        replace(question, problem=replace(question.problem, limits=(limit,))), Effort.QUICK
    )
    assert (len(answer.goes), bought(answer)) == (1, ["small"])


def test_a_pod_is_bought_for_in_the_pools_that_come_first() -> None:
    first = replace(LARGE, name="first", weight=1)
    question = asked(("dear", 90, 0, {"web": 4}), sold=(SMALL, first), web=pod())
    assert bought(renew(question, Effort.QUICK)) == ["first"]


def test_pods_that_are_spread_over_zones_stay_in_theirs() -> None:
    question = asked(
        ("a", 10, 2, {"web": 2}), ("b", 10, 2, {"web": 2}), ("c", 30, 2, {"web": 2}), web=pod()
    )
    zones = {"a": "east", "b": "east", "c": "west"}
    offers = tuple(
        replace(offer, labels={ZONE: zones.get(offer.name, "east")})
        for offer in question.problem.offers
    )
    spread = SpreadRule(
        name="level",
        key=ZONE,
        members=frozenset({"web"}),
        max_skew=2,
        running={"east": 4, "west": 2},
    )
    problem = replace(question.problem, offers=offers, groups=(spread,))
    answer = renew(replace(question, problem=problem), Effort.QUICK)
    assert len(answer.goes) == 1
    assert answer.goes[0] in {"a", "b"}


def test_a_pod_that_fits_nowhere_else_keeps_its_node() -> None:
    question = asked(
        ("a", 99, 0, {"web": 1, "log": 1}), ("b", 9, 1, {}), web=pod(40), log=pod(1, "log")
    )
    assert renew(question, Effort.QUICK).goes == ("b",)


@pytest.mark.parametrize(
    ("standing", "complaint"),
    [
        (RenewableNode(offer="small", price=1), "isn't an offer that exists"),
        (RenewableNode(offer="a", price=1, holds={"db": 1}), "pods of no class"),
        (RenewableNode(offer="a", price=1, holds={"web": 2}), "counts 1, its nodes hold 2"),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(
    standing: RenewableNode, complaint: str
) -> None:
    question = asked(("a", 10, 3, {"web": 1}), web=pod())
    with pytest.raises(ValueError, match=complaint):
        replace(question, standing=(standing,))


def crowd(count: int) -> Renewal:
    """Bought for so many pods, of which 40 % are left."""
    return shrunk(prices="hetzner", pods="heavy", count=count, left=0.4, eviction=0.1, seed=1)


def test_most_of_what_a_smaller_load_needs_no_more_is_given_back() -> None:
    question = crowd(500)
    answer = renew(question, Effort.QUICK)
    assert complaints(moving(question, answer.goes), answer.plan) == []
    assert answer.plan.unplaced == ()
    buyable = tuple(offer for offer in question.problem.offers if not offer.exists)
    anew = solve(replace(question.problem, offers=buyable), Effort.QUICK)
    left = answer.cost - answer.saving
    assert answer.bound <= anew.cost
    assert answer.bound <= left <= 1.10 * anew.cost


def test_what_stands_is_never_dearer_than_what_nobody_could_undercut() -> None:
    # Of what is sold there is too little for all of them, so anew they could not be bought for.
    question = asked(
        *((name, 10, 0, {"web": 4}) for name in "abc"), sold=(replace(SMALL, most=1),), web=pod()
    )
    answer = renew(question, Effort.QUICK)
    assert 0 < answer.bound <= answer.cost == 30


def shuffled(question: Renewal, seed: int) -> Renewal:
    chance, problem = random.Random(seed), question.problem
    return replace(
        question,
        problem=replace(
            problem,
            classes=tuple(chance.sample(problem.classes, len(problem.classes))),
            offers=tuple(chance.sample(problem.offers, len(problem.offers))),
        ),
        standing=tuple(chance.sample(question.standing, len(question.standing))),
    )


def test_the_order_of_the_nodes_changes_nothing() -> None:
    question = crowd(300)
    assert renew(question, Effort.QUICK) == renew(shuffled(question, 7), Effort.QUICK)


FINGERPRINT = """
from reconciler.solver import Effort
from reconciler.solver.renewal.renew import renew
from tests.solver.test_renew import crowd
print(renew(crowd(200), Effort.QUICK).goes)
"""


@pytest.mark.long
def test_two_processes_with_different_hash_seeds_let_the_same_nodes_go() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "4711")
    }
    assert len(told) == 1


def test_what_is_found_within_no_time_at_all_keeps_every_rule() -> None:
    question = crowd(200)
    answer = renew(question, Effort.QUICK, seconds=0.0)
    assert complaints(moving(question, answer.goes), answer.plan) == []
    assert answer.gain >= 0


def test_pods_of_which_no_two_are_alike_are_moved_too() -> None:
    nodes = [(f"n{number}", 10, 5, {f"p{number}": 1, f"q{number}": 1}) for number in range(130)]
    pods = {
        f"{letter}{number}": pod(100 + number, f"{letter}{number}")
        for letter in "pq"
        for number in range(130)
    }
    sold = (Offer(name="large", capacity=(10_000,), price=50),)
    answer = renew(asked(*nodes, sold=sold, **pods), Effort.QUICK)
    assert len(answer.goes) == 130
    assert len(bought(answer)) <= 6
