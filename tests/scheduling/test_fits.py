from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, Rejected, RejectionReason, feasible_nodes, verdict
from growth.scheduling.resources import Resources, shortages, shown_amount
from tests.scheduling.build import Json, cluster, node, patient, pod


def test_a_pod_is_told_how_much_it_needs_and_how_much_is_left() -> None:
    there = node(memory="32Gi", cpu="4")
    world = cluster(there, pod("first", on="one", requests={"memory": "3174Mi", "cpu": "1500m"}))
    answer = verdict(pod(requests={"memory": "96Gi", "cpu": "2750m"}), there, world)
    assert answer == Rejected(
        RejectionReason.RESOURCES,
        "needs 2750m of cpu, 2500m are left; needs 96Gi of memory, 28.9Gi are left",
    )


def test_a_node_has_a_number_of_places() -> None:
    there = node(pods="1")
    assert verdict(pod(), there, cluster(there)) == FITS
    assert verdict(pod("second"), there, cluster(there, pod(on="one"))) == Rejected(
        RejectionReason.RESOURCES, "has no room for another pod"
    )


def test_what_a_node_does_not_name_it_does_not_have() -> None:
    there = node()
    assert verdict(pod(requests={"example.com/gpu": "1"}), there, cluster(there)) == Rejected(
        RejectionReason.RESOURCES, "needs 1 of example.com/gpu, 0 are left"
    )
    assert verdict(pod(requests={"example.com/gpu": "0"}), there, cluster(there)) == FITS


def test_a_pod_that_asks_for_nothing_fits_an_overfull_node() -> None:
    there = node(cpu="1")
    world = cluster(there, pod("first", on="one", requests={"cpu": "2"}))
    assert verdict(pod(), there, world) == FITS
    assert verdict(pod(requests={"cpu": "1m"}), there, world) == Rejected(
        RejectionReason.RESOURCES, "needs 1m of cpu, 0 are left"
    )


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_finished_pods_hold_nothing(phase: str) -> None:
    there = node(cpu="1")
    done = pod("done", on="one", requests={"cpu": "1"}, status={"phase": phase})
    assert verdict(pod(requests={"cpu": "1"}), there, cluster(there, done)) == FITS


def test_pods_that_are_being_deleted_hold_what_they_have() -> None:
    there = node(cpu="1")
    leaving = pod(
        "leaving",
        on="one",
        requests={"cpu": "1"},
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
    )
    assert isinstance(verdict(pod(requests={"cpu": "1"}), there, cluster(there, leaving)), Rejected)


def test_a_nominated_pod_holds_its_place_against_others_and_not_against_itself() -> None:
    there = node(cpu="1")
    nominated = pod("first", requests={"cpu": "1"}, status={"nominatedNodeName": "one"})
    world = cluster(there, nominated)
    assert verdict(nominated, there, world) == FITS
    assert feasible_nodes(nominated, world) == [there]
    assert isinstance(verdict(pod(requests={"cpu": "1"}), there, world), Rejected)


def test_a_gated_pod_fits_nowhere() -> None:
    held = pod(schedulingGates=[{"name": "quota"}, {"name": "approval"}])
    world = cluster(node())
    assert verdict(held, node(), world) == Rejected(
        RejectionReason.GATED, "waits for its scheduling gates: quota, approval"
    )
    assert feasible_nodes(held, world) == []


def test_a_pod_that_names_a_node_goes_nowhere_else() -> None:
    one, two = node("one"), node("two")
    named = pod(on="two")
    assert verdict(named, one, cluster(one, two)) == Rejected(
        RejectionReason.OTHER_NODE, "requires the node two"
    )
    assert verdict(named, two, cluster(one, two)) == FITS


def test_feasible_nodes_keep_the_clusters_order() -> None:
    nodes = [node(name, cpu=cpu) for name, cpu in (("c", "4"), ("a", "1"), ("b", "4"))]
    found = feasible_nodes(pod(requests={"cpu": "2"}), cluster(*nodes))
    assert [each.name for each in found] == ["c", "b"]


CLOSED: Json = {"taints": [{"key": "team", "effect": "NoSchedule"}]}
AWAY: Json = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
        ]
    }
}
SPREAD: Json = {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
PORT: Json = {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
ORDER: list[tuple[RejectionReason, Json, Json]] = [
    (RejectionReason.NODE_UNSCHEDULABLE, {"unschedulable": True}, {}),
    (RejectionReason.TAINT, CLOSED, {}),
    (RejectionReason.NODE_AFFINITY, {}, {"nodeSelector": {"disk": "ssd"}}),
    (RejectionReason.HOST_PORT, {}, PORT),
    (RejectionReason.RESOURCES, {"cpu": "0"}, {"overhead": {"cpu": "1"}}),
    (RejectionReason.TOPOLOGY_SPREAD, {}, {"topologySpreadConstraints": [SPREAD]}),
    (RejectionReason.POD_ANTI_AFFINITY, {}, {"affinity": AWAY}),
]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_first_objection_in_the_schedulers_order_is_given(first: int) -> None:
    of_node: dict[str, Any] = {}
    of_pod: dict[str, Any] = {}
    for _, node_fields, pod_fields in ORDER[first:]:
        of_node |= node_fields
        of_pod |= pod_fields
    there = node("one", **of_node)
    answer = verdict(pod("new", **of_pod), there, cluster(there, pod("old", on="one", **PORT)))
    assert isinstance(answer, Rejected)
    assert answer.reason is ORDER[first][0]


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 1500, "1500m"),
        ("memory", 96 << 30, "96Gi"),
        ("memory", (3 << 40) + (1 << 39), "3.5Ti"),
        ("memory", 1023, "1023"),
        ("ephemeral-storage", 1 << 10, "1Ki"),
        ("hugepages-2Mi", 4 << 20, "4Mi"),
        ("example.com/gpu", 1 << 20, "1048576"),
    ],
)
def test_amounts_are_shown_as_people_write_them(name: str, amount: int, text: str) -> None:
    assert shown_amount(name, amount) == text


def test_amounts_that_look_alike_are_shown_to_the_last_byte() -> None:
    there = node(memory="1073741825")
    assert verdict(pod(requests={"memory": "1073741826"}), there, cluster(there)) == Rejected(
        RejectionReason.RESOURCES, "needs 1073741826 of memory, 1073741825 are left"
    )


names = st.sampled_from(["cpu", "memory", "pods", "example.com/gpu"])
vectors = st.builds(Resources, st.dictionaries(names, st.integers(0, 20)))


@patient
@given(vectors, vectors, vectors)
def test_what_fits_after_adding_fits_before(
    have: Resources, taken: Resources, new: Resources
) -> None:
    lacking = {each.name for each in shortages(new, have=have, taken=taken)}
    total = taken + new
    assert lacking == {name for name in new.amounts if new[name] and total[name] > have[name]}


@patient
@given(vectors, vectors)
def test_adding_and_taking_away_are_opposites(one: Resources, other: Resources) -> None:
    back = (one + other) - other
    assert all(back[name] == one[name] for name in {*one.amounts, *other.amounts})
    assert all((Resources() - one)[name] == -one[name] for name in one.amounts)
    assert (one + other).covers(one)
