"""`growth watch`: a line for each thing that happens, and an end when nothing more does."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.cli.__main__ import main
from growth.cli.cluster.connecting import completed
from growth.cli.cluster.lists import reading_lists
from growth.cli.cluster.names import ALONE
from growth.cli.status.watched import WatchedCluster
from growth.cli.watch.command import View, happening_line, latest_lines, line_of
from growth.cli.watch.happenings import Happening, happenings, is_settled
from tests.children import child
from tests.cli.seen import NOW, moment, node, pod, pool, removal, request, waiting
from tests.cli.test_doctor import nobody_listens
from tests.scheduling import build
from tests.thread.growing import pool_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from growth.scheduling.node import Node
    from tests.live import LiveCluster

MARKED = {"growth.dev/scale-down-at": moment(ago=-40)}
WEB = (waiting("web-0"), waiting("web-1"))
EVENTS = [{"at": moment(ago=1), "name": "Deletion failed", "reason": "locked"}]
PAUSED = {
    "type": "Paused",
    "status": "True",
    "reason": "PausedByAnnotation",
    "message": "Until 2026-01-01T13:00:00Z",
    "lastTransitionTime": moment(ago=1),
}


def unready() -> Node:
    labels = {"growth.dev/pool": "default", "growth.dev/managed-by": "growth"}
    return build.node("default-1", labels=labels)


def without_place(reason: str) -> Any:
    reference = {"namespace": "shop", "name": "web-0", "uid": WEB[0].metadata.uid}
    return pool(status={"unplaced": [{"pod": reference, "reason": reason}]})


NOTHING = WatchedCluster()
HAPPENINGS: dict[str, tuple[WatchedCluster, WatchedCluster, list[str]]] = {
    "pods are": (
        NOTHING,
        WatchedCluster(pending=WEB),
        ["StatefulSet shop/web  2 pods without a node"],
    ),
    "a pod waits no more": (
        WatchedCluster(pending=WEB),
        WatchedCluster(pending=WEB[:1]),
        ["StatefulSet shop/web  1 pod no longer waits"],
    ),
    "a pod that no scheduler has seen": (
        NOTHING,
        WatchedCluster(pending=(pod("web-0", on="", status={"phase": "Pending"}),)),
        [],
    ),
    "a reason": (
        WatchedCluster(pools=(pool(),)),
        WatchedCluster(pools=(without_place("too large"),)),
        ["shop/web-0  no place: too large"],
    ),
    "a reason that stays": (
        WatchedCluster(pools=(without_place("too large"),)),
        WatchedCluster(pools=(without_place("too large"),)),
        [],
    ),
    "a request": (
        NOTHING,
        WatchedCluster(requests=(request("default-1", "Pending", pods=WEB),)),
        ["default-1  requested: cx33 in nbg1 at 0.0136 per hour, for 2 pods"],
    ),
    "a request that was answered at once": (
        NOTHING,
        WatchedCluster(requests=(request("default-1", "Provisioning", pods=WEB),)),
        [
            "default-1  requested: cx33 in nbg1 at 0.0136 per hour, for 2 pods",
            "default-1  accepted by the provider",
        ],
    ),
    "its node serves": (
        WatchedCluster(requests=(request("default-1", "Provisioning"),)),
        WatchedCluster(requests=(request("default-1", "Ready"),)),
        ["default-1  ready"],
    ),
    "sold out": (
        WatchedCluster(requests=(request("default-1", "Pending"),)),
        WatchedCluster(requests=(request("default-1", "Unmet", events=EVENTS),)),
        ["default-1  sold out at the provider: locked"],
    ),
    "a node": (NOTHING, WatchedCluster(nodes=(node(),)), ["default-1  has joined pool default"]),
    "a node becomes Ready": (
        WatchedCluster(nodes=(unready(),)),
        WatchedCluster(nodes=(node(),)),
        ["default-1  ready"],
    ),
    "a node falls silent": (
        WatchedCluster(nodes=(node(),)),
        WatchedCluster(nodes=(unready(),)),
        ["default-1  no longer ready"],
    ),
    "a node is marked": (
        WatchedCluster(nodes=(node(),)),
        WatchedCluster(nodes=(node(annotations=MARKED),)),
        ["default-1  is idle and will be removed at 2026-01-01T12:00:40Z unless a pod arrives"],
    ),
    "a node is wanted again": (
        WatchedCluster(nodes=(node(annotations=MARKED),)),
        WatchedCluster(nodes=(node(),)),
        ["default-1  stays: it is needed again"],
    ),
    "a node is gone": (WatchedCluster(nodes=(node(),)), NOTHING, ["default-1  is gone"]),
    "a removal that was quick": (
        WatchedCluster(nodes=(node(),)),
        WatchedCluster(removals=(removal("default-1", "Deprovisioning"),)),
        [
            "default-1  removing: Idle",
            "default-1  the provider is deleting the machine",
            "default-1  is gone",
        ],
    ),
    "a removal": (
        NOTHING,
        WatchedCluster(removals=(removal("default-1"),)),
        ["default-1  removing: Idle"],
    ),
    "a removal that fails": (
        WatchedCluster(removals=(removal("default-1"),)),
        WatchedCluster(removals=(removal("default-1", "RemovalFailed", events=EVENTS),)),
        ["default-1  couldn't be removed: locked: check it at the provider"],
    ),
    "a removal ends": (
        WatchedCluster(removals=(removal("default-1"),)),
        NOTHING,
        ["default-1  has ended"],
    ),
    "a pool is blocked": (
        WatchedCluster(pools=(pool(),)),
        WatchedCluster(
            pools=(pool(status={"blocked": {"reason": "NoImage", "message": "no image"}}),)
        ),
        ["default  buys nothing: no image"],
    ),
    "a pool is paused": (
        WatchedCluster(pools=(pool(),)),
        WatchedCluster(pools=(pool(status={"conditions": [PAUSED]}),)),
        ["default  is paused"],
    ),
    "a cost": (
        WatchedCluster(pools=(pool(status={"hourlyCost": "0.0136"}),)),
        WatchedCluster(pools=(pool(status={"hourlyCost": "0.0272", "ready": 1, "wanted": 2}),)),
        ["default  costs 0.0272 per hour instead of 0.0136; 1 of 2 wanted nodes are ready"],
    ),
    "nothing": (
        WatchedCluster(pools=(pool(),), nodes=(node(),), pending=WEB),
        WatchedCluster(pools=(pool(),), nodes=(node(),), pending=WEB),
        [],
    ),
}


@pytest.mark.parametrize(("before", "after", "lines"), HAPPENINGS.values(), ids=HAPPENINGS.keys())
def test_what_happens_between_two_looks_is_told_once(
    before: WatchedCluster, after: WatchedCluster, lines: list[str]
) -> None:
    assert [happening_line(each) for each in happenings(before, after, NOW)] == [
        f"12:00:00  {line}" for line in lines
    ]


def test_a_view_cuts_nothing_off_and_shows_what_happened_last() -> None:
    first = Happening(at="2026-01-01T12:00:00Z", kind="Pod", subject="shop/import-0", text="first")
    last = msgspec.structs.replace(first, text=f"no place: {'it is too large, ' * 5}and so on")

    lines = latest_lines([first, last], ALONE, room=3)

    assert lines[0] == "12:00:00  shop/import-0  first"
    assert " ".join(lines[1:]).split() == happening_line(last).split()
    assert max(map(len, lines)) <= 100
    assert lines[2].startswith(" " * 10)
    assert latest_lines([first, last], ALONE, room=2) == lines[1:]


SETTLED: dict[str, tuple[WatchedCluster, str]] = {
    "nothing at all": (NOTHING, "settled"),
    "a pod waits": (WatchedCluster(pending=WEB), "not yet"),
    "a pod that has no place": (
        WatchedCluster(pending=WEB[:1], pools=(without_place("too large"),)),
        "settled",
    ),
    "a machine comes": (WatchedCluster(requests=(request("default-1", "Pending"),)), "not yet"),
    "one that nobody has": (WatchedCluster(requests=(request("default-1", "Unmet"),)), "settled"),
    "a machine goes": (WatchedCluster(removals=(removal("default-1"),)), "not yet"),
    "one that can't go": (
        WatchedCluster(removals=(removal("default-1", "RemovalFailed"),)),
        "settled",
    ),
    "a marked node": (WatchedCluster(nodes=(node(annotations=MARKED),)), "not yet"),
}


@pytest.mark.parametrize(("given", "settled"), SETTLED.values(), ids=SETTLED.keys())
def test_it_is_settled_when_nothing_more_can_happen_by_itself(
    given: WatchedCluster, settled: str
) -> None:
    assert is_settled(given) is (settled == "settled")


def test_without_a_cluster_one_line_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["watch", "--kubeconfig", nobody_listens(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line


def test_for_programs_a_happening_is_an_object_on_a_line() -> None:
    (each,) = happenings(NOTHING, WatchedCluster(nodes=(node(),)), NOW)
    assert json.loads(line_of(each, "json")) == {
        "at": "2026-01-01T12:00:00Z",
        "kind": "Node",
        "subject": "default-1",
        "text": "has joined pool default",
    }


@pytest.mark.cluster
def test_into_a_pipe_it_is_a_line_for_each_thing_and_ends_when_all_is_settled(
    alone: LiveCluster, namespace: str
) -> None:
    own = ["--kubeconfig", str(alone.kubeconfig), "--every", "200ms"]
    words = [sys.executable, "-m", "growth.cli", "watch", *own, "--until-settled"]
    name = f"w-{namespace}"
    coming = request("default-1", "Pending").document() | {"metadata": {"name": f"{name}-1"}}
    coming["spec"]["pool"] = name
    # As long as a machine is on its way, nothing is settled.
    alone.create(coming)
    with child(subprocess.Popen(words, stdout=subprocess.PIPE, text=True)) as process:
        assert process.stdout is not None
        # Growth itself doesn't run here, and that is told first.
        beginning = [process.stdout.readline() for _ in range(2)]
        assert "growth itself  no reconciler" in beginning[0]
        assert re.match(r"watching: \d+ nodes? at ", beginning[1])
        alone.create(pool_of(name))
        alone.kubectl("delete", "noderequest", f"{name}-1")
        lines = process.stdout.read().splitlines()
        assert process.wait(timeout=100) == 0
    assert any(line.endswith(f"  {name}  is there") for line in lines)
    alone.kubectl("delete", "nodepool", name, "--wait=false")


@pytest.mark.cluster
def test_the_view_has_the_overview_above_and_what_happened_last_below(
    alone: LiveCluster, namespace: str
) -> None:
    name = f"v-{namespace}"
    arguments = argparse.Namespace(kubeconfig=alone.kubeconfig, context=None)

    async def looks() -> tuple[Sequence[str], Sequence[str]]:
        async with reading_lists(arguments) as lists:
            view = View(lists)
            first = await view.look()
            await asyncio.to_thread(alone.create, pool_of(name))
            return first, await view.look()

    before, after = completed(looks())
    alone.kubectl("delete", "nodepool", name, "--wait=false")
    assert before[-1] == "nothing has happened yet; Ctrl-C to stop"
    assert any(line.startswith(name) for line in after)
    assert after[-1].endswith(f"  {name}  is there")
