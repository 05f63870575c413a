"""`growth status`: the overview as a rule, its lines, and the command on a real cluster."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.nodepool import NodePool
from growth.api.noderequest import NodeRequest
from growth.cli.__main__ import main
from growth.cli.status.command import overview_lines
from growth.cli.status.overview import overview
from growth.cli.status.watched import WatchedCluster, watched_in
from growth.scheduling.metadata import ObservedCondition
from tests.cli import seen
from tests.scheduling import build
from tests.thread.growing import install_definitions, pool_of

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.scheduling.node import Node
    from tests.live import LiveCluster

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
EARLIER = (NOW - timedelta(seconds=90)).isoformat()
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def pool(name: str = "default", **status: Any) -> NodePool:
    return NodePool.model_validate(
        {
            "metadata": {"name": name},
            "spec": {"serverTypes": [{"name": "cx33", "max": 9}]},
            "status": status,
        }
    )


def request(name: str, phase: str, **spec: Any) -> NodeRequest:
    return NodeRequest.model_validate(
        {
            "metadata": {"name": name},
            "spec": {
                "pool": "default",
                "targetOffering": "hetzner-cx33",
                "serverType": "cx33",
                "location": "nbg1",
                "price": "0.0136",
            }
            | spec,
            "status": {"phase": phase, "lastTransitionTime": EARLIER},
        }
    )


def removal(name: str, phase: str) -> NodeRemovalRequest:
    return seen.removal(name, phase, lastTransitionTime=EARLIER)


def node(name: str, *, pool: str, ready: str) -> Node:
    found = build.node(name, labels={"growth.dev/pool": pool})
    status = msgspec.structs.replace(
        found.status, conditions=(ObservedCondition(type="Ready", status=ready),)
    )
    return msgspec.structs.replace(found, status=status)


def test_a_pool_counts_its_nodes_and_what_comes_and_goes() -> None:
    found = WatchedCluster(
        pools=(pool(hourlyCost="0.0272"),),
        nodes=(
            node("default-1", pool="default", ready="True"),
            node("default-2", pool="default", ready="False"),
            node("other-1", pool="other", ready="True"),
        ),
        requests=(request("default-3", "Provisioning"), request("default-1", "Ready")),
        removals=(removal("default-2", "Pending"),),
    )
    (line,) = overview(found, NOW).pools
    assert (line.nodes, line.ready, line.coming, line.going) == (2, 1, 1, 1)
    assert (line.hourly_cost, line.state) == ("0.0272", "ok")


def test_a_cordoned_node_serves_no_more_than_its_pool_says() -> None:
    cordoned = node("default-2", pool="default", ready="True")
    cordoned = msgspec.structs.replace(
        cordoned, spec=msgspec.structs.replace(cordoned.spec, unschedulable=True)
    )
    found = WatchedCluster(
        pools=(pool(),), nodes=(node("default-1", pool="default", ready="True"), cordoned)
    )
    (line,) = overview(found, NOW).pools
    assert (line.nodes, line.ready) == (2, 1)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, "ok"),
        ({"blocked": {"reason": "NoImage", "message": "no image"}}, "blocked: NoImage"),
        (
            {
                "conditions": [
                    {
                        "type": "Paused",
                        "status": "True",
                        "reason": "PausedByAnnotation",
                        "lastTransitionTime": EARLIER,
                    }
                ]
            },
            "paused",
        ),
        (
            {
                "conditions": [
                    {
                        "type": "LimitReached",
                        "status": "True",
                        "reason": "TypeMaximum",
                        "lastTransitionTime": EARLIER,
                    }
                ]
            },
            "limit reached: the max of a type",
        ),
        (
            {
                "conditions": [
                    {
                        "type": "RemovalHeld",
                        "status": "True",
                        "reason": "ListingDoubted",
                        "lastTransitionTime": EARLIER,
                    }
                ]
            },
            "removes nothing: ListingDoubted",
        ),
        (
            {
                "conditions": [
                    {
                        "type": "ManySick",
                        "status": "True",
                        "reason": "TooManySick",
                        "lastTransitionTime": EARLIER,
                    }
                ]
            },
            "repairs nothing: TooManySick",
        ),
        (
            {
                "unmetOffers": [
                    {
                        "serverType": "cx33",
                        "location": "nbg1",
                        "until": (NOW + timedelta(minutes=5)).isoformat(),
                    }
                ]
            },
            "ok, 1 offer sold out",
        ),
    ],
)
def test_a_pools_state_names_what_keeps_it_from_buying(status: Any, state: str) -> None:
    (line,) = overview(WatchedCluster(pools=(pool(**status),)), NOW).pools
    assert line.state == state


def test_pods_that_the_scheduler_has_given_up_on_wait_and_others_do_not() -> None:
    gone = {"phase": "Pending", "conditions": [UNSCHEDULABLE]}
    waits = build.pod("web-0", status=gone, metadata={"creationTimestamp": EARLIER})
    unreached = build.pod(
        "web-1", status={"phase": "Pending"}, metadata={"creationTimestamp": EARLIER}
    )
    found = overview(WatchedCluster(pending=(waits, unreached)), NOW)
    assert (found.pending, found.longest_wait) == (1, 90)


def test_what_can_not_go_on_by_itself_needs_a_person() -> None:
    found = WatchedCluster(
        pools=(pool(blocked={"reason": "NoImage", "message": "spec.images names no image"}),),
        removals=(removal("default-9", "RemovalFailed"),),
        unreadable=("NodeRequest default-8",),
    )
    lines = overview(found, NOW).needs_a_person
    assert [line.split(":")[0] for line in lines] == [
        "pool default buys nothing",
        "default-9 couldn't be removed and may still cost money",
        "NodeRequest default-8 can't be read",
    ]


@pytest.mark.parametrize(("seconds", "lines"), [(1199, 0), (1201, 1)])
def test_a_machine_that_takes_twice_its_time_tells_that_nobody_works(
    seconds: int, lines: int
) -> None:
    found = WatchedCluster(pools=(pool(),), requests=(request("default-1", "Provisioning"),))
    later = NOW - timedelta(seconds=90) + timedelta(seconds=seconds)
    assert len(overview(found, later).needs_a_person) == lines


def test_the_lines_fit_a_terminal_and_say_everything_once() -> None:
    found = WatchedCluster(
        pools=(pool(hourlyCost="0.0136"),),
        requests=(request("default-6f1f2d3c-1111-4222-8333-abcdefabcdef", "Provisioning"),),
        removals=(removal("default-2", "Pending"),),
    )
    lines = list(overview_lines(overview(found, NOW)))
    assert lines[:4] == [
        "POOL     NODES  READY  COMING  GOING  PER HOUR  STATE",
        "default      0      0       1      1    0.0136  ok",
        "",
        "No pod is waiting for a node. Everything costs 0.0136 per hour.",
    ]
    assert "  default-2   Idle   Pending for 1 m" in lines
    assert max(len(line) for line in lines) <= 100


def test_a_reason_however_long_fits_a_terminal_and_is_told_to_its_end() -> None:
    reason = "needs 96Gi of memory; the largest offer leaves 16Gi. " * 3 + "Lower the request"
    pod = {"namespace": "shop", "name": "import-0", "uid": "uid-import-0"}
    left = [{"pod": pod, "reason": reason, "tries": 1, "nextTry": seen.moment(ago=-9)}]
    lines = list(overview_lines(overview(WatchedCluster(pools=(pool(unplaced=left),)), NOW)))
    assert max(len(line) for line in lines) <= 100
    assert "shop/import-0   needs 96Gi" in " ".join(lines)
    assert " ".join(" ".join(lines).split()).endswith("Lower the request")


def test_of_a_long_list_the_rest_is_counted() -> None:
    many = tuple(request(f"default-{number:02}", "Pending") for number in range(12))
    assert "  and 2 more" in list(overview_lines(overview(WatchedCluster(requests=many), NOW)))


def test_nodes_are_counted_by_the_one_reason_for_which_they_are_there() -> None:
    marked = {"growth.dev/scale-down-at": seen.moment(ago=-40)}
    there = seen.seen(
        seen.pool(),
        seen.node("default-1"),
        seen.node("default-2"),
        seen.node("default-3", annotations=marked),
        seen.pod("web-0"),
        seen.pod("web-1", on="default-2"),
    )
    found = overview(watched_in(there), NOW, there.kept)
    assert (found.pools[0].nodes, found.kept[0].nodes) == (3, 2)
    assert list(overview_lines(found))[-1] == "nodes: 2 Occupied, 1 Idle (the next leaves in 40 s)"


def test_without_a_pool_it_says_so() -> None:
    assert (
        next(overview_lines(overview(WatchedCluster(), NOW)))
        == "No NodePool yet, so nothing is bought."
    )


@pytest.mark.cluster
def test_the_command_reads_a_real_cluster(
    cluster: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install_definitions(cluster)
    name = f"pool-{namespace}"
    cluster.create(pool_of(name))
    try:
        code = main(["status", "--kubeconfig", str(cluster.kubeconfig), "-o", "json"])
        printed = capsys.readouterr()
        assert not printed.err
        found = json.loads(printed.out)
    finally:
        cluster.kubectl("delete", "nodepool", name, "--wait=false")
    mine = next(each for each in found["pools"] if each["name"] == name)
    assert (mine["nodes"], mine["coming"], mine["state"]) == (0, 0, "ok")
    # Growth itself doesn't run here.
    assert found["growth"]["reason"] in {"NeverLed", "NobodyLeads"}
    assert code == 1
