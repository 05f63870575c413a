from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, Rejected, RejectionReason, verdict
from growth.scheduling.ports import HostPort
from tests.scheduling.build import cluster, container, node, patient, pod, sidecar

if TYPE_CHECKING:
    from growth.scheduling.objects import Pod


def listening(name: str, /, *, port: int = 80, on: str = "", **more: Any) -> Pod:
    fields = {"containerPort": 8080, "hostPort": port, **more}
    return pod(name, on=on, containers=[container(ports=[fields])])


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        ({}, {}, True),
        ({"port": 80}, {"port": 81}, False),
        ({"protocol": "TCP"}, {"protocol": "UDP"}, False),
        ({"protocol": "TCP"}, {}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, False),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.1"}, True),
        ({"hostIP": "0.0.0.0"}, {"hostIP": "10.0.0.1"}, True),
        ({"hostIP": "10.0.0.1"}, {}, True),
    ],
)
def test_two_pods_cannot_take_the_same_port(
    one: dict[str, Any], other: dict[str, Any], *, overlaps: bool
) -> None:
    there = node()
    world = cluster(there, listening("first", on="one", **one))
    answer = verdict(listening("second", **other), there, world)
    assert (answer != FITS) is overlaps


def test_one_taken_port_among_several_is_enough() -> None:
    there = node()
    world = cluster(there, listening("first", on="one"), listening("other", port=443, on="one"))
    assert verdict(listening("second"), there, world) != FITS
    assert verdict(listening("third", port=8443), there, world) == FITS


def test_the_text_names_the_port() -> None:
    there = node()
    world = cluster(there, listening("first", on="one"))
    assert verdict(listening("second"), there, world) == Rejected(
        RejectionReason.HOST_PORT, "needs the host port 80/TCP, which is in use"
    )


def test_sidecars_hold_ports_and_other_init_containers_do_not() -> None:
    port = {"containerPort": 80, "hostPort": 80}
    made = pod(initContainers=[sidecar(ports=[port]), container("init", ports=[port])])
    assert made.host_ports == (HostPort("TCP", 80, "0.0.0.0"),)


def test_a_port_that_stays_inside_takes_nothing_of_the_node() -> None:
    assert pod(containers=[container(ports=[{"containerPort": 80}])]).host_ports == ()


ports = st.builds(
    HostPort,
    st.sampled_from(["TCP", "UDP"]),
    st.sampled_from([80, 81]),
    st.sampled_from(["0.0.0.0", "10.0.0.1", "10.0.0.2"]),
)


@patient
@given(ports, ports)
def test_overlap_has_no_direction(one: HostPort, other: HostPort) -> None:
    assert one.overlaps(other) == other.overlaps(one)
