"""A machine that isn't there yet is in the zone in which the nodes of its place say they are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from growth.api.written import ServerTypeName
from growth.scheduling.resources import parse_resources
from reconciler.buying.offers import REGION_LABEL, ZONE_LABEL, Shelf, shelf
from reconciler.providers.port import ClassKey, Offering
from tests.reconciler.build import pool, world
from tests.scheduling import build

PROMISED = "fsn1-dc14"
OFFERING = Offering(
    provider="hetzner",
    server_type=ServerTypeName("cx23"),
    location="fsn1",
    price=Decimal("0.01"),
    allocatable=parse_resources({"cpu": "2", "memory": "4Gi"}),
    labels={REGION_LABEL: "fsn1", ZONE_LABEL: PROMISED},
)


def zones(kind: str, *nodes: tuple[str, str], only: tuple[str, ...] = ()) -> list[str]:
    """Those of all machines that could be bought; nodes are told by their region and zone."""
    there = (
        build.node(f"node-{number}", labels={REGION_LABEL: region, ZONE_LABEL: zone})
        for number, (region, zone) in enumerate(nodes)
    )
    buyer = pool(
        serverTypes=[{"name": "cx23", "max": 1}],
        nodeClassRef={"kind": kind, "name": "default"},
        locations=[{"region": "fsn1", "zones": list(only)}],
    )
    offerings = {ClassKey(kind, "default"): (OFFERING,)}
    sold = shelf(world(*there, buyer, offerings=offerings), Shelf())
    return [item.node.labels[ZONE_LABEL] for item in sold.items]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((), PROMISED),
        ((("fsn1", "our-cage"),), "our-cage"),
        ((("nbg1", "our-cage"),), PROMISED),
        ((("fsn1", "rare"), ("fsn1", "usual"), ("fsn1", "usual")), "usual"),
    ],
)
def test_the_zone_is_that_of_most_nodes_of_the_place(
    nodes: tuple[tuple[str, str], ...], expected: str
) -> None:
    assert zones("HetznerNodeClass", *nodes) == [expected]


def test_a_simulated_cloud_gives_its_nodes_the_zone_that_it_promised() -> None:
    assert zones("KwokNodeClass", ("fsn1", "our-cage")) == [PROMISED]


def test_a_pool_names_zones_as_its_nodes_do() -> None:
    assert zones("HetznerNodeClass", ("fsn1", "our-cage"), only=("our-cage",)) == ["our-cage"]
    assert zones("HetznerNodeClass", ("fsn1", "our-cage"), only=(PROMISED,)) == []
