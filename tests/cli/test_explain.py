"""`growth explain`: why a pod waits, why a node came and stays, what holds a pool."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.written import write_time
from growth.cli.__main__ import main
from growth.cli.cluster.events import ObjectEvent
from growth.cli.cluster.looking_up import node_named
from growth.cli.cluster.names import ALONE
from growth.cli.explain import node as explain_node
from growth.cli.explain import pod as explain_pod
from growth.cli.explain import pool as explain_pool
from growth.cli.explain.story import explanation_lines
from growth.cli.status.overview import overview
from growth.cli.status.watched import watched_in
from tests.cli.seen import (
    NOW,
    moment,
    node,
    owned,
    pod,
    pool,
    record,
    removal,
    request,
    seen,
    waiting,
)
from tests.cli.test_commands import refused
from tests.cli.test_doctor import kubeconfig_for, nobody_listens
from tests.quickest import takes_at_most
from tests.scheduling import build
from tests.thread.growing import pool_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from growth.cli.explain.story import Explanation
    from growth.scheduling.pod import Pod
    from tests.live import LiveCluster

UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
REASON = 'needs 96Gi of memory; the largest offer of pool "default" leaves 7Gi (cx33 in nbg1)'


def facts(story: Explanation) -> dict[str, str]:
    """The last fact of each topic."""
    return {fact.topic: fact.text for fact in story.facts}


def unplaced(waits: Pod, **entry: Any) -> dict[str, Any]:
    metadata = waits.metadata
    reference = {key: getattr(metadata, key) for key in ("namespace", "name", "uid")}
    return {"unplaced": [{"pod": reference, "reason": REASON, "tries": 5} | entry]}


PAUSED_UNTIL_LATER = {
    "type": "Paused",
    "status": "True",
    "reason": "PausedByAnnotation",
    "message": f"Until {moment(ago=-3600)}",
    "lastTransitionTime": moment(ago=1),
}


# A pod


def test_a_pod_without_a_place_tells_reason_tries_and_next_try() -> None:
    waits = waiting("import-0")
    status = unplaced(waits, nextTry=moment(ago=-120))
    story = explain_pod.explained_pod(waits, seen(waits, pool(status=status)))
    assert story.headline == "shop/import-0 has been waiting for a node for 4 m."
    assert facts(story) == {
        "scheduler": "Unschedulable 3 m ago: 0/1 nodes are available: 1 Insufficient memory.",
        "pool": "default (default: the pod names no pool)",
        "last plan": f"doesn't fit in pool default: {REASON}",
        "next try": "in 2 m (5 plans in a row found no place for it); sooner if the "
        "pod, its pool or the offers change",
    }
    assert story.figures["nextTry"] == moment(ago=-120)


def test_a_pod_in_back_off_says_that_it_rests() -> None:
    waits = waiting("import-0")
    story = explain_pod.explained_pod(waits, seen(waits, pool(status=unplaced(waits))))
    assert facts(story)["next try"].startswith(
        "when the pod, its pool or the offers change (5 plans in a row found no place for it"
    )


WAITS = waiting("web-0")
COMES: dict[str, tuple[str, dict[str, Any], str]] = {
    "not asked for yet": ("Pending", {}, "about to be requested from the provider, for 8 s"),
    "accepted": (
        "Provisioning",
        {"acceptedAt": moment(ago=8)},
        "accepted by the provider 8 s ago, the node hasn't joined yet; gives up in 9 m",
    ),
    "serving": (
        "Ready",
        {"readyAt": moment(ago=8)},
        "the node has been ready for 8 s, but the pod isn't bound to it yet",
    ),
    "refused": (
        "Unmet",
        {},
        "sold out at the provider 8 s ago; its pods are planned without that offer",
    ),
    "never served": (
        "Deprovisioning",
        {},
        "its node never became ready; being removed for 8 s",
    ),
}


@pytest.mark.parametrize(("phase", "status", "far"), COMES.values(), ids=COMES.keys())
def test_a_request_that_comes_for_a_pod_tells_how_far_it_is(
    phase: str, status: dict[str, Any], far: str
) -> None:
    coming = request("default-1", phase, pods=(WAITS, pod("web-1", on="")), **status)
    there = (node(),) if phase == "Ready" else ()
    story = explain_pod.explained_pod(WAITS, seen(WAITS, pool(), coming, *there))
    bought = "default-1 (cx33 in nbg1, 0.0136 per hour) for it and 1 other pod"
    assert facts(story)["request"] == f"{bought}: {far}"
    comes = phase in {"Pending", "Provisioning", "Ready"}
    assert story.figures["request"] == ("default-1" if comes else None)


FULL = [pod(f"other-{number}") for number in range(4)]
NO_PLACE_ANY_MORE: dict[str, tuple[float, Sequence[Any], str]] = {
    "siblings have filled it": (
        8,
        [node(), *FULL],
        "other pods took its place (needs 1 of cpu, 0 are left)",
    ),
    "the node is gone": (49, [], "its node is gone; the pod is planned again"),
}


@pytest.mark.parametrize(
    ("ago", "there", "far"), NO_PLACE_ANY_MORE.values(), ids=NO_PLACE_ANY_MORE.keys()
)
def test_a_node_on_which_the_pod_has_no_place_any_more_is_no_answer(
    ago: float, there: Sequence[Any], far: str
) -> None:
    came = request("default-1", "Ready", pods=(WAITS,), readyAt=moment(ago=ago))
    story = explain_pod.explained_pod(WAITS, seen(WAITS, pool(), came, *there))
    assert facts(story)["request"].endswith(far)
    assert story.figures["request"] is None


def test_how_long_a_pod_may_take_to_be_bound_is_not_claimed() -> None:
    """GROWTH_BIND_WAIT is up to an hour, and only the reconciler knows it."""
    came = request("default-1", "Ready", pods=(WAITS,), readyAt=moment(ago=1800))
    story = explain_pod.explained_pod(WAITS, seen(WAITS, pool(), came, node()))
    assert facts(story)["request"].endswith("but the pod isn't bound to it yet")
    assert "last plan" not in facts(story)
    assert story.figures["request"] == "default-1"


GATED = build.pod("web-0", schedulingGates=[{"name": "quota"}])
STANDS: dict[str, tuple[Pod, str]] = {
    "bound": (pod("web-0"), "is on node default-1."),
    "ended": (
        pod("web-0", status={"phase": "Succeeded"}),
        "has finished (Succeeded), so it needs no node.",
    ),
    "gated": (GATED, "is held by the scheduling gate quota, so it isn't scheduled yet."),
    "leaving": (
        pod("web-0", on="", metadata={"deletionTimestamp": moment(ago=1)}),
        "is being deleted, so it needs no node.",
    ),
    "unreached": (
        pod("web-0", on="", status={"phase": "Pending"}),
        "has been pending for 4 m: no scheduler has looked at it.",
    ),
    "nominated": (
        pod(
            "web-0",
            on="",
            status={
                "phase": "Pending",
                "nominatedNodeName": "default-1",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                ],
            },
        ),
        "gets a place on default-1: the scheduler preempts other pods for it.",
    ),
    "for others": (
        pod("web-0", on="", metadata=owned("DaemonSet", "agent")),
        "has no node, but isn't waiting for a new one.",
    ),
}


@pytest.mark.parametrize(("stands", "headline"), STANDS.values(), ids=STANDS.keys())
def test_the_headline_tells_where_a_pod_stands(stands: Pod, headline: str) -> None:
    story = explain_pod.explained_pod(stands, seen(stands, node(), pool()))
    assert story.headline == f"shop/web-0 {headline}"


def test_a_seat_that_growth_holds_is_no_preemption() -> None:
    held = STANDS["nominated"][0]
    bought = request("default-1", "Provisioning", pods=(held,))
    story = explain_pod.explained_pod(held, seen(held, node(), pool(), bought))
    assert story.headline == (
        "shop/web-0 gets its place on default-1, which was bought for it: "
        "the scheduler keeps the room free."
    )


def test_a_pool_that_is_not_there_is_the_pods_reason() -> None:
    waits = waiting("web-0", nodeSelector={"growth.dev/pool": "gpu"})
    learnt_text = facts(explain_pod.explained_pod(waits, seen(waits, pool())))
    assert learnt_text["pool"].startswith('there is no pool "gpu" that the pod may use')
    assert "last plan" not in learnt_text


def test_a_pool_that_can_not_be_read_is_not_called_missing() -> None:
    waits = waiting("web-0", nodeSelector={"growth.dev/pool": "gpu"})
    there = msgspec.structs.replace(seen(waits, pool()), unreadable=("nodepools gpu",))
    said = facts(explain_pod.explained_pod(waits, there))["pool"]
    assert said == 'pool "gpu" can\'t be read: see kubectl describe nodepool gpu'


def test_what_keeps_the_pool_from_buying_is_told_with_the_pod() -> None:
    blocked = {"blocked": {"reason": "NoImage", "message": "spec.images names no image"}}
    story = explain_pod.explained_pod(WAITS, seen(WAITS, pool(status=blocked)))
    assert facts(story)["blocked"] == ("pool default: it buys nothing: spec.images names no image")


def test_a_pod_that_nobody_plans_for_asks_whether_growth_runs() -> None:
    learnt_text = facts(explain_pod.explained_pod(WAITS, seen(WAITS, pool())))
    assert "check with growth doctor whether growth runs" in learnt_text["last plan"]


ELSEWHERE = {
    "paused": {"conditions": [PAUSED_UNTIL_LATER]},
    "full": unplaced(waiting("other-0")),
}


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_a_pool_that_the_pod_may_not_use_does_not_hide_that_growth_may_not_run(
    elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explain_pod, "MOST_UNPLACED", 1)
    other = pool("gpu", status=ELSEWHERE[elsewhere])
    learnt_text = facts(explain_pod.explained_pod(WAITS, seen(WAITS, pool(), other)))
    assert "check with growth doctor whether growth runs" in learnt_text["last plan"]


def test_a_pod_of_pools_that_are_all_paused_waits_for_the_end_of_the_pause() -> None:
    resting = pool(status={"conditions": [PAUSED_UNTIL_LATER]})
    learnt_text = facts(explain_pod.explained_pod(WAITS, seen(WAITS, resting)))
    assert learnt_text["last plan"].startswith("none while pools are paused")


def test_what_was_bought_in_vain_for_a_pod_is_told() -> None:
    entry = {
        "owner": "StatefulSet/shop/web",
        "shape": WAITS.shape,
        "offering": "hetzner-cx33",
        "until": moment(ago=-60),
    }
    story = explain_pod.explained_pod(WAITS, seen(WAITS, pool(status={"unserved": [entry]})))
    assert (
        "hetzner-cx33 of pool default was bought for a pod like this one" in facts(story)["in vain"]
    )


# A node


def test_a_node_tells_why_it_was_bought_what_it_holds_and_why_it_stays() -> None:
    lonely = build.pod("db-0", on="default-1", requests={"cpu": "1", "memory": "4Gi"})
    story = explain_node.explained_node(node(), seen(node(), pool(), pod("web-0"), lonely))
    assert story.headline == "default-1 is a cx33 in nbg1, pool default, 0.0136 per hour."
    assert facts(story) == {
        "bought": "3 h ago for 3 pods by NodeRequest default-1",
        "why this": "the next best was cpx32 at 0.0570 (+319 %)",
        "holds": "2 pods of StatefulSet shop/web, Pod shop/db-0; cpu 50 %, memory 38 %",
        "still here": "shop/db-0 can't be evicted: it has no controller to recreate it (Held)",
        "owner": "Pod shop/db-0",
        "until": "unknown",
        "worth": "0.0068 of its 0.0136 per hour is unused; without the node its pool costs 0.0136 "
        "less",
    }
    assert (story.figures["reason"], story.figures["nextBest"]) == ("Held", "cpx32")


def test_a_node_whose_age_is_limited_tells_when_it_expires() -> None:
    metadata = msgspec.structs.replace(node().metadata, creation_timestamp=moment(ago=3 * 3600))
    young = msgspec.structs.replace(node(), metadata=metadata)
    story = explain_node.explained_node(young, seen(young, pool(disruption={"expireAfter": "4h"})))
    said = facts(story)["expires"]
    assert said.startswith("in 1 h (2026-01-01T13:")
    assert said.endswith("Z): expireAfter of its pool is 4h")


def test_a_node_that_goes_tells_when() -> None:
    goes = {"growth.dev/scale-down-at": moment(ago=-40)}
    going = node(annotations=goes)
    story = explain_node.explained_node(going, seen(going, pool()))
    learnt_text = facts(story)
    assert learnt_text["still here"] == "it is idle, and is removed unless a pod arrives (Idle)"
    assert learnt_text["until"] == "in 40 s (2026-01-01T12:00:40Z)"


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ({"pods": 3, "next": None}, "no other type of the pool fits these pods"),
        ({"pods": 0, "next": None}, "the minimum of its pool requires it"),
        (
            {"pods": 1, "next": {"type": "cax11", "price": "0.006"}},
            "cax11 cost 0.0060, but limits or topology spread ruled it out",
        ),
        ([1], "the node has no record of its plan"),
    ],
)
def test_why_a_type_was_bought_is_what_the_plan_wrote_on_the_node(plan: Any, why: str) -> None:
    bought = node(plan=plan)
    assert facts(explain_node.explained_node(bought, seen(bought, pool())))["why this"] == why


def test_what_somebody_else_wrote_over_the_plan_is_no_failure() -> None:
    torn = node(annotations={"growth.dev/plan": "{", "growth.dev/price": "much"})
    story = explain_node.explained_node(torn, seen(torn, pool()))
    assert facts(story)["why this"] == "the node has no record of its plan"
    assert "worth" not in facts(story)


def test_a_removal_tells_what_happened_last() -> None:
    events = [{"at": moment(ago=5), "name": "Deletion failed", "reason": "locked"}]
    leaving = seen(node(), pool(), removal("default-1", events=events))
    learnt_text = facts(explain_node.explained_node(node(), leaving))
    assert learnt_text["removal"] == "Deletion failed 5 s ago: locked"


def test_a_machine_that_is_no_node_yet_tells_how_far_it_is() -> None:
    coming = request("default-5", "Provisioning", pods=(WAITS,), acceptedAt=moment(ago=8))
    there = seen(coming, pool(), WAITS)
    story = explain_node.awaited(coming, there)
    assert story.headline == "default-5 isn't a node yet: a cx33 in nbg1, 0.0136 per hour."
    assert facts(story) == {
        "bought": "for 1 pod of StatefulSet shop/web",
        "how far": "accepted by the provider 8 s ago, the node hasn't joined yet; gives up in 9 m",
    }
    assert story.figures["phase"] == "Provisioning"


@pytest.mark.parametrize(
    ("taints", "others", "far"),
    [
        ([UNREGISTERED], 2, "the node is Ready but not open yet (still booting: 2 machines of its"),
        ([UNREGISTERED], 0, "the node is Ready but not open yet; gives up"),
        ([], 1, "the node is Ready; gives up"),
    ],
)
def test_a_ready_node_that_is_not_open_yet_tells_what_else_boots(
    taints: list[dict[str, str]], others: int, far: str
) -> None:
    names = [f"default-{number}" for number in range(1, others + 2)]
    coming = [request(name, "Provisioning", acceptedAt=moment(ago=8)) for name in names]
    there = seen(*coming, node("default-1", taints=taints), pool())
    text = facts(explain_node.awaited(coming[0], there))["how far"]
    assert text.startswith(f"accepted by the provider 8 s ago, {far}")


def test_a_request_that_outlives_its_node_says_that_the_node_is_gone() -> None:
    came = request("default-5", "Ready", readyAt=moment(ago=8))
    story = explain_node.awaited(came, seen(came, pool()))
    assert story.headline == "default-5 is gone: a cx33 in nbg1, 0.0136 per hour."
    assert facts(story)["how far"] == (
        "its node became ready 8 s ago and is gone; this request is deleted in 9 m"
    )


def test_a_node_of_others_is_never_touched() -> None:
    other = build.node("theirs")
    story = explain_node.explained_node(other, seen(other))
    assert story.headline == "theirs wasn't bought by growth, so growth doesn't manage it."


CONTESTED = {
    "conditions": [
        {
            "type": "Contested",
            "status": "True",
            "reason": "AnotherNode",
            "message": "Node theirs has the providerID of this machine.",
            "lastTransitionTime": moment(ago=1),
        }
    ]
}


def test_a_node_with_growths_labels_and_no_record_is_told_apart_from_a_machine() -> None:
    there = seen(node(), node("default-2"), record(), pool())
    story = explain_node.explained_node(there.scene.cluster.nodes["default-2"], there)
    assert story.headline == "default-2 wasn't bought by growth, so growth doesn't manage it."
    assert facts(story)["claims"] == (
        "it has growth's labels but no NodeRecord, so growth ignores what they say"
    )


def test_a_node_says_what_its_record_says() -> None:
    lying = node(price="99", annotations={"growth.dev/server-id": "666"})
    there = seen(lying, record(status=CONTESTED), pool())
    story = explain_node.explained_node(there.scene.cluster.nodes["default-1"], there)
    assert story.headline == "default-1 is a cx33 in nbg1, pool default, 0.0136 per hour."
    assert facts(story)["machine"] == "1"
    assert facts(story)["contested"] == "Node theirs has the providerID of this machine."


def test_a_machine_of_which_only_the_record_is_left_is_explained_by_it() -> None:
    left = record(status={"node": {"name": "default-1", "uid": "uid"}})
    there = seen(left, pool())
    assert node_named("default-1", there) is left
    story = explain_node.recorded(left, there)
    assert story.headline == "default-1 has no node any more: a cx33 in nbg1, 0.0136 per hour."
    assert facts(story)["bought"] == "3 h ago for pool default"


# A pool


def test_a_pool_tells_what_it_has_what_holds_it_and_why_its_nodes_are_there() -> None:
    status = {
        "nodes": 1,
        "ready": 1,
        "wanted": 2,
        "hourlyCost": "0.0136",
        "serverTypes": [{"name": "cx33", "nodes": 1, "ready": 1, "requested": 1}],
        "unmetOffers": [{"serverType": "cx33", "location": "fsn1", "until": moment(ago=-60)}],
        "pausedUntil": "2026-01-01T13:00:00Z",
        "conditions": [
            {
                "type": "Paused",
                "status": "True",
                "reason": "PausedByAnnotation",
                "message": "Until 2026-01-01T13:00:00Z: night shift",
                "lastTransitionTime": moment(ago=1),
            }
        ],
    }
    limited = pool(status=status, limits={"nodes": 4, "hourlyCost": "0.50"})
    coming = request("default-2", "Provisioning")
    story = explain_pool.explained_pool(limited, seen(limited, coming, node(), pod("web-0")))
    assert story.headline == "default: 1 of 2 wanted nodes are ready, 0.0136 per hour."
    assert [(fact.topic, fact.text) for fact in story.facts] == [
        ("paused", "it neither buys nor removes nodes until 2026-01-01T13:00:00Z, which is in 1 h"),
        ("nodes", "cx33: 1 of 1 ready, 1 on their way; at most 9"),
        ("limit", "2 of 4 nodes"),
        ("limit", "0.0136 of 0.5000 per hour"),
        ("budget", "10 % of its nodes in use may be replaced at a time"),
        ("requests", "1 Provisioning: default-2"),
        ("kept", "Occupied: 1 node (default-1)"),
        ("sold out", "cx33 in fsn1: retry in 1 m (1 refusal)"),
    ]
    assert (story.figures["paused"], story.figures["keptOccupied"]) == (True, 1)


def test_a_type_that_is_not_sold_is_told_with_its_pool_and_in_status() -> None:
    condition = {
        "type": "TypesMissing",
        "status": "True",
        "reason": "NotSold",
        "message": "bgi isn't sold by class default (did you mean big?)",
        "lastTransitionTime": moment(ago=1),
    }
    misspelt = pool(status={"conditions": [condition]})
    there = seen(misspelt)
    assert facts(explain_pool.explained_pool(misspelt, there))["not sold"] == condition["message"]
    (line,) = overview(watched_in(there), NOW).pools
    assert line.state == "some of its types aren't sold"


NIGHTS = {"days": ["Monday", "Friday"], "start": "22:00", "duration": "8h"}


@pytest.mark.parametrize(
    ("disruption", "learnt_text"),
    [
        ({"budgets": [{"nodes": 0}]}, ["0: no node in use may be replaced"]),
        ({"budgets": [{"nodes": "0%"}]}, ["0: no node in use may be replaced"]),
        ({"budgets": []}, []),
        (
            {"budgets": [{"nodes": 1, "reasons": ["Drift"]}, {"nodes": 0, "window": NIGHTS}]},
            [
                "1 node in use may be replaced at a time for Drift",
                "0: no node in use may be replaced, from 22:00 UTC for 8h on Monday, Friday",
            ],
        ),
        (
            {"consolidation": "Never", "budgets": []},
            ["its nodes are never replaced by cheaper ones (consolidation: Never)"],
        ),
    ],
)
def test_a_pool_tells_its_budgets_and_above_all_one_of_0(
    disruption: dict[str, Any], learnt_text: list[str]
) -> None:
    limited = pool(disruption=disruption)
    story = explain_pool.explained_pool(limited, seen(limited))
    assert [fact.text for fact in story.facts if fact.topic == "budget"] == learnt_text


# Lines


def test_lines_fit_a_terminal_and_only_growths_own_events_are_shown_to_people() -> None:
    waits = waiting("import-0")
    story = explain_pod.explained_pod(waits, seen(waits, pool(status=unplaced(waits))))
    events = tuple(
        ObjectEvent(at=moment(ago=7), reason=reason, note="why " * 40, source=source)
        for reason, source in (("NoPlace", "growth.dev/reconciler"), ("Failed", "scheduler"))
    )
    lines = list(explanation_lines(msgspec.structs.replace(story, events=events), NOW, ALONE))
    assert max(len(line) for line in lines) <= 100
    assert any(line.startswith("  7 s ago  NoPlace: why") for line in lines)
    assert not any("Failed:" in line for line in lines)


# The command


def test_without_a_cluster_one_line_says_so_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["explain", "pool", "default", "--kubeconfig", nobody_listens(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = kubeconfig_for(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")

        def ask() -> None:
            assert main(["explain", "pool", "default", "--kubeconfig", hanging]) == 1
            assert "no answer within 3 s" in capsys.readouterr().err

        assert takes_at_most(5, ask)


@pytest.mark.cluster
def test_the_command_reads_a_real_cluster(
    defined: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"e-{namespace}"
    own = ("--kubeconfig", str(defined.kubeconfig))
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "99"}}}
    spec = {"containers": [container], "nodeSelector": {"growth.dev/pool": name}}
    waits = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": spec}
    defined.create(pool_of(name))
    defined.create(waits, namespace=namespace)
    try:
        uid = defined.get("pod", "big", "--namespace", namespace)["metadata"]["uid"]
        soon = write_time(datetime.now(UTC) + timedelta(minutes=5))
        reference = {"namespace": namespace, "name": "big", "uid": uid}
        entry = {"pod": reference, "reason": REASON, "tries": 2, "nextTry": soon}
        patch = json.dumps({"status": {"unplaced": [entry]}})
        defined.kubectl(
            "patch", "nodepool", name, "--subresource=status", "--type=merge", "-p", patch
        )
        assert main(["explain", f"pod/{namespace}/big", *own]) == 0
        printed = capsys.readouterr().out
        assert "doesn't fit in pool" in printed
        assert "next try   in 4 m (" in printed
        assert main(["explain", "pool", name, *own, "-o", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["figures"]["unplaced"] == 1
        assert main(["explain", "node", "nobody", *own]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith('no node "nobody"')
    finally:
        defined.kubectl("delete", "nodepool", name, "--wait=false")


# All commands that show


WRONG: dict[str, tuple[list[str], str]] = {
    "an unknown kind": (["explain", "deployment", "web"], "deployment"),
    "no name": (["explain", "pod"], "NAME"),
    "an unknown effort": (["cost", "--effort", "endless"], "endless"),
    "a span that is none": (["top", "--every", "often"], "--every"),
    "an endless pace": (["watch", "--every", "0s"], "--every"),
    "an unknown form": (["bundle", "-o", "zip"], "zip"),
    "an unknown shell": (["completion", "tcsh"], "tcsh"),
    "a kubeconfig that isn't there": (["top", "--kubeconfig", "missing.yaml"], "missing.yaml"),
}


@pytest.mark.parametrize(("words", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert said in refused(capsys, *words)


@pytest.mark.parametrize("command", ["explain", "cost", "top", "watch", "bundle", "completion"])
def test_the_help_of_a_command_shows_an_example(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    # Narrow windows break the sentence anywhere.
    shown = " ".join(capsys.readouterr().out.split())
    assert "For example: " in shown
    assert f"growth {command}" in shown.split("For example: ")[1]
    assert "--output {text,json}" in shown
