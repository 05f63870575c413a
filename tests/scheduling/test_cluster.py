from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, Rejected, verdict
from growth.scheduling.occupancy import EMPTY, Occupancy
from tests.scheduling.build import cluster, node, patient, pod

if TYPE_CHECKING:
    from growth.scheduling.objects import Pod


def test_a_snapshot_does_not_change_when_a_pod_is_added_to_the_next_one() -> None:
    there = node(cpu="1")
    before = cluster(there)
    taken = pod("first", requests={"cpu": "1"})
    after = before.with_node(there, pods=(taken,))
    new = pod("new", requests={"cpu": "1"})
    assert verdict(new, there, before) == FITS
    assert isinstance(verdict(new, there, after), Rejected)
    assert verdict(new, there, after.without_pod(pod("other"))) != FITS


def test_what_was_counted_in_one_snapshot_is_counted_anew_in_the_next() -> None:
    there = node()
    away = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
            ]
        }
    }
    before = cluster(there)
    new = pod("new", affinity=away)
    assert verdict(new, there, before) == FITS
    after = before.with_node(there, pods=(pod("first"),))
    assert isinstance(verdict(new, there, after), Rejected)
    assert verdict(new, there, before) == FITS


def test_a_question_is_answered_once_for_a_snapshot() -> None:
    world, answers = cluster(), iter([1, 2])
    assert [world.remembered("key", lambda: next(answers)) for _ in range(2)] == [1, 1]


def test_the_neighbours_sums_are_shared_between_snapshots() -> None:
    two = node("two")
    before = cluster(node("one"), two, pod("first", on="one"))
    after = before.with_node(two, pods=(pod("second"),))
    assert after.occupancy("one") is before.occupancy("one")


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ends_leaves_its_node(phase: str) -> None:
    first = pod("first", on="one", requests={"cpu": "1"}, metadata={"uid": "u"})
    done = pod("first", on="one", metadata={"uid": "u"}, status={"phase": phase})
    assert EMPTY.having(first).having(done).requested.amounts == {}


pods = st.lists(
    st.builds(
        lambda uid, cpu: pod(requests={"cpu": f"{cpu}m"}, metadata={"uid": f"u{uid}"}),
        st.integers(0, 3),
        st.integers(0, 100),
    )
)


@patient
@given(pods)
def test_each_pod_is_held_once_as_it_was_seen_last(seen: list[Pod]) -> None:
    held = Occupancy()
    for each in seen:
        held = held.having(each)
    last = {each.metadata.uid: each for each in seen}
    assert held.requested["cpu"] == sum(each.requests["cpu"] for each in last.values())
    assert held.requested["pods"] == len(last)
