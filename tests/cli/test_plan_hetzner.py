"""`growth plan` for pools at Hetzner: whose prices, which estimates, and what isn't offered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.api.wellknown import GROUP_VERSION
from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
GI = 2**30

Plan = dict[str, Any]


def node_class(name: str = "default", **spec: Any) -> dict[str, Any]:
    usual = {
        "tokenSecretRef": {"namespace": "growth-system", "name": "hetzner", "key": "token"},
        "images": {"x86": "debian-13"},
        "bootstrap": {"kind": "K3s", "server": "https://10.0.0.2:6443"},
    }
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "HetznerNodeClass",
        "metadata": {"name": name},
        "spec": usual | spec,
    }


def pool(*types: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"serverTypes": [{"name": name, "max": 5} for name in types]} | spec,
    }


def pod(name: str = "one", /, **requests: str) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": requests or {"cpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
    }


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What `growth plan` prints for these documents."""

    def run(*documents: dict[str, Any], words: tuple[str, ...] = ()) -> str:
        file = tmp_path / "all.yaml"
        file.write_text(yaml.safe_dump_all(documents))
        main(["plan", "-f", str(file), *words])
        printed = capsys.readouterr()
        assert not printed.err, printed.err
        return printed.out

    return run


@pytest.fixture
def planned(run: Callable[..., str]) -> Callable[..., Plan]:
    """The same for programs."""

    def planned(*documents: dict[str, Any]) -> Plan:
        found: Plan = json.loads(run(*documents, words=("-o", "json")))
        return found

    return planned


@pytest.mark.parametrize(
    ("server_type", "spec", "hour", "month"),
    [
        # The price page's month, with an IPv4 address and without.
        ("cx33", {}, 0.0144, 8.99),
        ("cx33", {"publicIPv4": False}, 0.0136, 8.49),
        # No monthly price is known, so all hours of a month count.
        ("ccx63", {"publicIPv4": False}, 0.5347, 390.331),
        ("cax11", {"images": {"arm": "debian-13"}, "publicIPv4": False}, 0.0074, 5.402),
    ],
)
def test_an_hour_and_a_month_cost_what_the_list_says(
    server_type: str,
    spec: dict[str, Any],
    hour: float,
    month: float,
    planned: Callable[..., Plan],
) -> None:
    plan = planned(node_class(**spec), pool(server_type), pod())
    (node,) = plan["nodes"]
    assert (node["price"], node["pricePerMonth"]) == (hour, month)
    assert (plan["cost"], plan["costPerMonth"]) == (hour, month)
    assert node["estimated"]
    assert plan["prices"] == {
        "currency": "EUR",
        "date": "2026-09-08",
        "origin": "shipped with growth",
    }


def test_the_table_marks_estimates_and_says_of_when_the_prices_are(
    run: Callable[..., str],
) -> None:
    told = run(node_class(), pool("cx33"), pod())
    assert "~0.0144  (~8.99 EUR per month)" in told
    assert "prices in EUR before taxes, Hetzner 2026-09-08 (shipped with growth)" in told
    assert "~ estimated; get current prices with growth catalogue save" in told


def test_the_date_of_the_prices_is_told_with_every_plan(run: Callable[..., str]) -> None:
    assert run(node_class(), pool("cx33")).splitlines() == [
        "Nothing to plan: no pod is waiting for a node.",
        "prices in EUR before taxes, Hetzner 2026-09-08 (shipped with growth)",
        "~ estimated; get current prices with growth catalogue save",
    ]


@pytest.mark.parametrize(
    ("pools", "spec", "named", "reason"),
    [
        (pool("cx33", "cpx41"), {}, "cpx41", "the price of cpx41 isn't known"),
        (pool("cx33", "cx99"), {}, "cx99", "cx99 isn't in Hetzner's price list"),
        (
            pool("cx33", "cx333"),
            {},
            "cx333",
            "cx333 isn't in Hetzner's price list; did you mean cx33?",
        ),
        (
            pool("cx33", "cax21"),
            {},
            "cax21",
            "cax21 is arm64, and the class has no spec.images.arm",
        ),
        (
            pool("cx33", locations=[{"region": "nbg1"}, {"region": "ash"}]),
            {},
            "ash",
            "none of its types has a known price in ash",
        ),
        (
            pool("cx33", locations=[{"region": "ash"}]),
            {},
            "cx33",
            "cx33 is sold in fsn1, hel1, nbg1, and in none of the pool's locations",
        ),
    ],
)
def test_what_a_pool_names_and_cannot_have_is_named_with_the_reason(
    pools: dict[str, Any],
    spec: dict[str, Any],
    named: str,
    reason: str,
    run: Callable[..., str],
    planned: Callable[..., Plan],
) -> None:
    documents = (node_class(**spec), pools, pod())
    assert {"pool": "default", "what": named, "reason": reason} in planned(*documents)["notOffered"]
    assert f"pool default: {reason}" in run(*documents)


def test_what_the_kubelet_keeps_is_not_planned_with(planned: Callable[..., Plan]) -> None:
    # cx23 has 93 % of 4 GiB, of which 100 MiB are the eviction threshold.
    fits = pod(memory="3700Mi")
    kept = {"kubelet": {"reserved": {"memory": "600Mi"}}}
    k3s = {"kind": "K3s", "server": "https://10.0.0.2:6443"}
    both = pool("cx23", "cx33")
    (small,) = planned(node_class(), both, fits)["nodes"]
    (large,) = planned(node_class(bootstrap=k3s | kept), both, fits)["nodes"]
    assert (small["serverType"], large["serverType"]) == ("cx23", "cx33")


def test_nodes_are_planned_with_the_labels_that_hetzner_s_nodes_have(
    planned: Callable[..., Plan],
) -> None:
    labels = {
        "topology.kubernetes.io/zone": "hel1-dc2",
        "csi.hetzner.cloud/location": "hel1",
        "kubernetes.io/arch": "amd64",
    }
    picky = pod()
    picky["spec"]["nodeSelector"] = labels
    (node,) = planned(node_class(), pool("cx33"), picky)["nodes"]
    assert node["location"] == "hel1"


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ((pool("cx33"),), 'no node class is called "default"'),
        (
            (
                pool("cx33"),
                node_class(),
                {
                    "apiVersion": GROUP_VERSION,
                    "kind": "KwokNodeClass",
                    "metadata": {"name": "default"},
                    "spec": {
                        "types": [
                            {
                                "name": "small",
                                "resources": {"cpu": 1, "memory": "1Gi"},
                                "offers": [{"location": "here", "price": "1"}],
                            }
                        ]
                    },
                },
            ),
            'several node classes are called "default"',
        ),
        (
            (
                pool("cx33"),
                {
                    "apiVersion": GROUP_VERSION,
                    "kind": "KwokNodeClass",
                    "metadata": {"name": "default"},
                    "spec": {
                        "catalogueFrom": {"namespace": "growth-system", "name": "x", "key": "y"}
                    },
                },
            ),
            "spec.catalogueFrom: no ConfigMap growth-system/x with the key y",
        ),
        ((node_class(), pod()), "no NodePool in the files or the cluster"),
        (
            (pool("cx33", nodeClassRef={"kind": "HetznerNodeClass", "name": "gone"}), node_class()),
            'no HetznerNodeClass "gone"',
        ),
    ],
)
def test_a_pool_without_a_catalogue_is_one_line(
    documents: tuple[dict[str, Any], ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file)]) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == ""
    assert said in line


@pytest.mark.parametrize(
    ("folders", "result", "cost"),
    [
        (("hetzner",), "AllPlaced", 0.0432),
        (("hetzner", "shop"), "IncompletePlacement", 0.0808),
        (("kwok",), "NoDemands", 0),
        (("kwok", "shop"), "IncompletePlacement", 0.036),
        (("sizing",), "AllPlaced", 0.0088),
        # One machine is kept without load.
        (("seed",), "NoDemands", 0.0122),
        (("seed", "shop"), "IncompletePlacement", 0.0318),
    ],
)
def test_every_example_can_be_planned(
    folders: tuple[str, ...], result: str, cost: float, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(EXAMPLES / folder) for folder in folders]
    assert main(["plan", "-f", *files, "-o", "json"]) == (result == "IncompletePlacement")
    plan = json.loads(capsys.readouterr().out)
    assert (plan["result"], plan["cost"]) == (result, cost)
    assert main(["plan", "-f", *files]) in {0, 1}
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 120 for line in lines)


def test_no_folder_of_examples_is_left_out() -> None:
    (marker,) = (
        each
        for each in test_every_example_can_be_planned.pytestmark  # type: ignore[attr-defined]
        if each.name == "parametrize"
    )
    planned = {folder for folders, *_ in marker.args[1] for folder in folders}
    assert planned == {each.name for each in EXAMPLES.iterdir() if each.is_dir()}
