"""The benchmark that measures growth beside another autoscaler."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import peers
from benchmarks.__main__ import main
from benchmarks.peer_catalogue import CAPACITY, PeerCatalogue
from benchmarks.peer_systems import FLOOR, GROWTH, PEER, empty_nodes
from benchmarks.peer_works import WORKS, PeerFigures, deployments_of
from benchmarks.peers import PeerRun
from growth.errors import GiveUp

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("prices", ["aws", "hetzner"])
def test_a_node_costs_what_its_offer_costs_whoever_buys_it(prices: str) -> None:
    catalogue = PeerCatalogue(prices, seed=1)
    node_class, _ = catalogue.growths()
    as_growth_sells = sorted(
        float(offer["price"]) for each in node_class["spec"]["types"] for offer in each["offers"]
    )

    found = [catalogue.price(catalogue.node(offer)) for offer in catalogue.offers]

    assert found == [offer.price / 1e6 for offer in catalogue.offers]
    assert sorted(each for each in found if each) == pytest.approx(as_growth_sells)


def test_all_forms_have_the_same_offers(tmp_path: Path) -> None:
    catalogue = PeerCatalogue("aws", seed=1)

    catalogue.write(tmp_path)

    plain, karpenters, templates = (
        json.loads((tmp_path / f"{name}.json").read_text())
        for name in ("catalogue", "karpenter-instance-types", "cluster-autoscaler-templates")
    )
    prices = sorted(each["pricePerHour"] for each in plain)
    assert prices == sorted(offer["Price"] for each in karpenters for offer in each["offerings"])
    assert [each["node"] for each in plain] == templates["items"]
    terms = {each["metadata"]["labels"][CAPACITY] for each in templates["items"]}
    assert terms == {"spot", "on-demand"}


def test_a_node_that_no_offer_explains_is_named() -> None:
    catalogue = PeerCatalogue("hetzner", seed=1)
    node = catalogue.node(catalogue.offers[0], name="strange")
    node["metadata"]["labels"]["topology.kubernetes.io/zone"] = "elsewhere"

    with pytest.raises(GiveUp, match="node strange: the price list has no cx23 in elsewhere"):
        catalogue.price(node)
    assert catalogue.price({"metadata": {"name": "control-plane"}}) is None


@pytest.mark.parametrize("work", WORKS)
def test_a_work_is_the_same_for_everybody(work: str) -> None:
    first, again = (deployments_of(work, pods=200, seed=3) for _ in range(2))

    assert first == again
    expected = {"W1": 1, "W2": 20, "W6": 80}.get(work, 200)
    assert sum(each["spec"]["replicas"] for each in first) == expected


def test_the_floor_has_room_for_all_pods_with_the_same_constraints() -> None:
    catalogue = PeerCatalogue("aws", seed=1)
    wanted = deployments_of("W4", pods=200, seed=1)

    nodes = list(empty_nodes(catalogue, wanted))

    labels = [each["metadata"]["labels"] for each in nodes]
    for each in wanted:
        selector = each["spec"]["template"]["spec"]["nodeSelector"].items()
        assert any(selector <= found.items() for found in labels)
    assert len({each["metadata"]["name"] for each in nodes}) == len(nodes)


def test_the_table_has_a_column_for_each_system_and_medians() -> None:
    def runs(*seconds: float) -> list[PeerRun]:
        return [PeerRun(PeerFigures(each, 1.0 + each / 100), each / 10, "1") for each in seconds]

    found = {
        ("W3", GROWTH): runs(6.0, 5.0, 9.0),
        ("W3", PEER): runs(15.0),
        ("W3", FLOOR): runs(4.0),
        ("W6", PEER): [PeerRun(PeerFigures(180.0, 1.5, evictions=77, p99=7.7), 9.0, "2")],
    }

    ours = "6.0 s, 1.060 x (1.50 x floor); CPU 0.6 s"
    others = "15.0 s, 1.150 x (3.75 x floor); CPU 1.5 s"
    assert list(peers.table(found, peer="other")) == [
        "| work | growth | other | floor |",
        "|---|---|---|---|",
        f"| W3 | {ours} | {others} | 4.0 s |",
        "| W6 |  | 1.500 x over time, p99 7.7 s, 77 evictions; CPU 9.0 s |  |",
    ]


def test_the_name_of_another_column_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["peers", "--name", "floor"]) == 2
    assert "--name: floor is the name of another column" in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.long
def test_a_peer_is_measured_beside_growth(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m tests.kwok.stand_in"
    words = ["--works", "W2", "--seeds", "1", "--pods", "60", "--prices", "hetzner"]

    assert main(["peers", "--with", command, "--name", "one-each", "--settle", "2", *words]) == 0

    printed = capsys.readouterr().out
    assert "| work | growth | one-each | floor |" in printed
    cells = re.findall(r"([\d.]+) s, ([\d.]+) x \(", printed)
    [ours, others] = [float(cost) for _, cost in cells]
    assert 1.0 <= ours < others


@pytest.mark.cluster
@pytest.mark.long
def test_a_command_that_ends_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--works", "W1", "--seeds", "2", "--settle", "0.5", "--prices", "hetzner"]

    assert main(["peers", "--with", "exit 7", *words]) == 2

    assert "--with: the command has ended with code 7" in capsys.readouterr().err
