"""The checker's word on spreads over nodes is that of the rules that pods are scheduled by."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, verdict
from reconciler.solver.model.problem import HOSTNAME, Offer, PodClass, Problem, SpreadRule
from tests.scheduling import build
from tests.solver.checker import group_complaints

APP = {"app": "web"}
NODES = ("old-0", "old-1", "old-2", "new #0", "new #1")
FULL = dict.fromkeys(NODES[:3], 4)


def is_legal(running: dict[str, int], added: dict[str, int], *, skew: int) -> bool:
    """What the checker says of so many more pods on nodes that run some and on new ones."""
    offers = (
        *(Offer(name=name, capacity=(9,), exists=True) for name in running),
        Offer(name="new", capacity=(9,)),
    )
    web = PodClass(
        name="web", requests=(1,), count=9, offers=frozenset(each.name for each in offers)
    )
    problem = Problem(resources=("cpu",), classes=(web,), offers=offers)
    group = SpreadRule(
        name="web",
        key=HOSTNAME,
        members=frozenset({"web"}),
        max_skew=skew,
        running={name: count for name, count in running.items() if count},
    )
    return not group_complaints(group, problem, Counter(added))


def is_scheduled(running: dict[str, int], added: dict[str, int], *, skew: int) -> bool:
    """Whether pod after pod fits where the plan has it, the emptiest node first."""
    constraint = {
        "topologyKey": HOSTNAME,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": APP},
    }
    nodes = {name: build.node(name) for name in {**running, **added}}
    placed = [
        build.pod(f"{name}-{number}", labels=APP, on=name)
        for name, count in running.items()
        for number in range(count)
    ]
    levels = sorted(
        (running.get(name, 0) + number, name)
        for name, count in added.items()
        for number in range(count)
    )
    for number, (_, name) in enumerate(levels):
        pod = build.pod(f"more-{number}", labels=APP, topologySpreadConstraints=[constraint])
        if verdict(pod, nodes[name], build.cluster(*nodes.values(), *placed)) != FITS:
            return False
        placed.append(build.pod(f"more-{number}", labels=APP, on=name))
    return True


def test_one_new_node_may_hold_as_many_as_each_of_the_nodes_that_are_full() -> None:
    assert is_legal(FULL, {"new #0": 5}, skew=1)
    assert not is_legal(FULL, {"new #0": 6}, skew=1)


def test_a_node_with_room_holds_the_others_back() -> None:
    assert not is_legal({**FULL, "old-2": 0}, {"new #0": 2}, skew=1)


def test_new_nodes_hold_each_other_back() -> None:
    assert is_legal({}, {"new #0": 3}, skew=1)
    assert not is_legal({}, {"new #0": 3, "new #1": 1}, skew=1)


@build.patient
@given(
    running=st.dictionaries(st.sampled_from(NODES[:3]), st.integers(0, 4)),
    bought=st.dictionaries(st.sampled_from(NODES[3:]), st.integers(0, 4)),
    more=st.lists(st.sampled_from(NODES[:3]), max_size=3),
    skew=st.integers(1, 3),
)
def test_what_the_checker_allows_is_what_the_scheduler_does(
    running: dict[str, int], bought: dict[str, int], more: list[str], skew: int
) -> None:
    added = bought | Counter(name for name in more if name in running)

    assert is_legal(running, added, skew=skew) == is_scheduled(running, added, skew=skew)
