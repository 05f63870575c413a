"""`growth cost`: every node is split among the pods on it, once, and held against a plan."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.cli.__main__ import main
from growth.cli.cost.bound import without_our_nodes
from growth.cli.cost.command import spending_lines
from growth.cli.cost.expenses import expense
from growth.cli.cost.spending import Bound, Spending, spending
from growth.scheduling.node import Node
from growth.scheduling.occupancy import Occupancy
from growth.scheduling.pod import Pod
from tests.cli.seen import node, owned, pod, pool, seen, waiting
from tests.cli.test_doctor import nobody_listens
from tests.cli.test_plan_from_cluster import node_class
from tests.cli.test_plan_from_cluster import pool as pool_of_class
from tests.live import wait_until
from tests.scheduling import build
from tests.thread.growing import deployment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster


LAST = "best possible: 0.0100 (proven); you overpay 0.0036 (36 %)"


def named(found: Spending) -> dict[str, str]:
    return {share.name: f"{share.hourly_cost:.4f}" for share in found.workloads}


def test_a_pod_pays_for_the_larger_one_of_its_shares_and_the_rest_is_idle() -> None:
    # Of 4 CPU and 16Gi: a quarter by its CPU, and a half by its memory.
    busy = pod("web-0", requests={"cpu": "1", "memory": "1Gi"})
    large = pod("db-0", of="db", requests={"cpu": "1", "memory": "8Gi"})
    found = spending(seen(node(price="0.0400"), pool(), busy, large))
    assert named(found) == {"StatefulSet shop/db": "0.0200", "StatefulSet shop/web": "0.0100"}
    assert (found.hourly_cost, found.idle_cost) == (Decimal("0.04"), Decimal("0.01"))


def test_a_node_is_paid_once_though_shares_come_to_more_than_the_whole() -> None:
    busy = pod("web-0", requests={"cpu": "3", "memory": "1Gi"})
    large = pod("db-0", of="db", requests={"cpu": "1", "memory": "12Gi"})
    found = spending(seen(node(price="0.0400"), pool(), busy, large))
    assert named(found) == {"StatefulSet shop/db": "0.0200", "StatefulSet shop/web": "0.0200"}
    assert found.idle_cost == 0


def test_pods_of_a_deployment_and_of_a_daemon_set_are_told_by_their_workload() -> None:
    labels = {"pod-template-hash": "5d"}
    web = pod("web-5d-x", metadata=owned("ReplicaSet", "web-5d") | {"labels": labels})
    agent = pod("agent-x", metadata=owned("DaemonSet", "agent"))
    found = spending(seen(node(), pool(), web, agent))
    assert {share.name for share in found.workloads} == {
        "Deployment shop/web",
        "DaemonSet shop/agent",
    }


def test_nodes_of_others_cost_nothing_here_and_a_node_without_a_price_is_named() -> None:
    found = spending(seen(node(price=""), build.node("theirs"), pool()))
    assert [share.count for share in found.pools] == [1]
    assert found.unpriced == ("default-1",)


amounts = st.tuples(st.integers(0, 4000), st.integers(0, 16384))


@given(st.lists(amounts, max_size=8))
def test_shares_and_idle_are_the_whole_price_whatever_is_requested(
    asked: list[tuple[int, int]],
) -> None:
    pods = tuple(
        pod(f"web-{number}", requests={"cpu": f"{cpu}m", "memory": f"{memory}Mi"})
        for number, (cpu, memory) in enumerate(asked)
    )
    found = expense(node(price="0.0400"), Occupancy(pods))
    paid = sum((found.cost_of(each) for each in pods), found.idle)
    assert float(paid) == pytest.approx(0.04, abs=1e-6)
    assert found.idle >= 0


def test_planned_anew_means_without_our_nodes_and_with_all_that_runs_on_them() -> None:
    static = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    kept = {
        type(each).__name__ + " " + each.metadata.name: each
        for each in without_our_nodes(
            [
                node(),
                build.node("theirs"),
                pod("web-0"),
                pod("other-0", on="theirs"),
                pod("agent", metadata=owned("DaemonSet", "agent")),
                pod("static", metadata=static),
                waiting("import-0"),
            ]
        )
    }
    assert sorted(kept) == ["Node theirs", "Pod other-0", "Pod web-0"]
    anew, stays = kept["Pod web-0"], kept["Pod other-0"]
    assert isinstance(anew, Pod)
    assert isinstance(stays, Pod)
    assert isinstance(kept["Node theirs"], Node)
    assert (anew.spec.node_name, stays.spec.node_name) == ("", "theirs")


def test_the_lines_tell_pools_workloads_the_whole_and_the_bound() -> None:
    found = spending(seen(node(), pool(), pod("web-0")))
    bound = Bound(plan_cost=Decimal("0.0100"), lower_bound=Decimal("0.0100"), unplaced=1)
    lines = list(spending_lines(Spending(**{**as_fields(found), "bound": bound})))
    assert lines == [
        "POOL     NODES  PER HOUR  PER MONTH  OF ALL    IDLE",
        "default      1    0.0136       9.93   100 %  0.0102",
        "",
        "WORKLOAD              PODS  PER HOUR  PER MONTH  OF ALL",
        "StatefulSet shop/web     1    0.0034       2.48   100 %",
        "",
        "0.0136 per hour (9.93 per month), 0.0102 of it (75 %) unused",
        LAST,
        "1 pod would have no place in a new plan (not counted in the last line)",
    ]
    assert max(len(line) for line in lines) <= 100


PAID: dict[str, tuple[str, str, str, str]] = {
    "as much": ("0.0136", "0.0136", "0.0136", "best possible: 0.0136 (proven); you pay no more"),
    "less than a new plan": (
        "0.0058",
        "0.0100",
        "0.0100",
        "best possible: 0.0100 (proven); you pay 42 % less",
    ),
    "many times as much": (
        "0.0800",
        "0.0100",
        "0.0100",
        "best possible: 0.0100 (proven); you overpay 0.0700, 8.0 times as much",
    ),
    "not proven": (
        "0.0136",
        "0.0120",
        "0.0110",
        "a new plan: 0.0120; no plan costs less than 0.0110; you overpay 0.0016 (13 %)",
    ),
    "nothing would do": (
        "0.0136",
        "0.0000",
        "0.0000",
        "best possible: 0.0000 (proven); you overpay 0.0136",
    ),
}


@pytest.mark.parametrize(("cost", "plan", "least", "line"), PAID.values(), ids=PAID.keys())
def test_what_is_paid_is_compared_in_words_that_fit_it(
    cost: str, plan: str, least: str, line: str
) -> None:
    bound = Bound(plan_cost=Decimal(plan), lower_bound=Decimal(least), unplaced=0)
    there = spending(seen(node(price=cost), pool(), pod("web-0")))
    found = msgspec.structs.replace(there, bound=bound)
    assert list(spending_lines(found))[-1].startswith(line)


def as_fields(found: Spending) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


def test_where_nothing_was_bought_it_says_so() -> None:
    assert list(spending_lines(spending(seen(pool())))) == ["No nodes of growth, so no cost."]


def test_without_a_cluster_one_line_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["cost", "--kubeconfig", nobody_listens(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line


@pytest.mark.cluster
def test_what_runs_on_a_real_cluster_is_held_against_a_plan(
    alone: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"c-{namespace}"
    # Two pods of 900m on a large machine: a small one would do.
    large = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"{name}-1",
            "labels": {
                "growth.dev/pool": name,
                "growth.dev/managed-by": "growth",
                "growth.dev/instance-type": "large",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake", "growth.dev/price": "0.05"},
        },
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10"}},
    }
    alone.create(node_class(name), pool_of_class(name), large)
    try:
        web = deployment("web", pool=name, replicas=2, cpu="900m")
        alone.create(web, namespace=namespace)

        def bound() -> bool:
            pods = alone.get("pods", "--namespace", namespace)["items"]
            return len(pods) == 2 and all("nodeName" in each["spec"] for each in pods)

        wait_until(bound, "both pods are bound")
        assert main(["cost", "--kubeconfig", str(alone.kubeconfig), "-o", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["hourlyCost"], found["bound"]["lowerBound"]) == ("0.05", "0.01")
        assert found["workloads"][0]["name"] == f"Deployment {namespace}/web"
    finally:
        alone.kubectl("delete", "node", f"{name}-1", "--wait=false")
        alone.kubectl("delete", "nodepool,kwoknodeclass", name, "--wait=false")
