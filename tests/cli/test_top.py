"""`growth top`: one line for each node, once into a pipe and again and again on a terminal."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from growth.cli.__main__ import main
from growth.cli.cluster.looking_up import node_named
from growth.cli.top.bars import bar, ending, fleet_bars, fleet_lines, shortened
from tests.children import child_on_a_terminal
from tests.cli.seen import NOW, moment, node, pod, pool, request, seen, waiting
from tests.cli.test_doctor import nobody_listens
from tests.live import IN_TIME

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

LONG = "default-6f1f2d3c-1111-4222-8333-abcdefabcdef"


def test_a_line_tells_how_full_a_node_is_what_it_wastes_and_why_it_is_there() -> None:
    idle = node("default-2", annotations={"growth.dev/scale-down-at": moment(ago=-40)})
    there = seen(node(LONG), idle, pool(), pod("web-0", on=LONG), waiting("big-0"))
    lines = list(fleet_lines(fleet_bars(there), NOW))
    assert lines[:2] == [
        "2 nodes · cpu █░░░░░░░ 12 % · memory ░░░░░░░░ 6 % · 0.0272 per hour · 0.0238 of it idle",
        "1 pod waits · 0 nodes on the way",
    ]
    assert [line.split() for line in lines[3:]] == [
        [
            "NODE",
            "TYPE",
            "CPU",
            "MEMORY",
            "PODS",
            "PLAN",
            "PER",
            "HOUR",
            "WASTE",
            "HERE",
            "BECAUSE",
        ],
        [
            "default-2",
            "cx33",
            "░░░░░░░░",
            "0%",
            "░░░░░░░░",
            "0%",
            "0",
            "3",
            "0.0136",
            "0.0136",
            "Idle,",
            "in",
            "40",
            "s",
        ],
        [
            "default-6f1f",
            "cx33",
            "██░░░░░░",
            "25%",
            "█░░░░░░░",
            "12%",
            "1",
            "3",
            "0.0136",
            "0.0102",
            "Occupied",
        ],
    ]
    assert max(len(line) for line in lines) <= 100


def test_the_longest_line_fits_a_terminal() -> None:
    long = node(LONG, price="0.123456789", annotations={"growth.dev/do-not-disrupt": "true"})
    paused = moment(ago=-86400 * 99)
    going = node("default-2", annotations={"growth.dev/scale-down-at": paused})
    lines = list(fleet_lines(fleet_bars(seen(long, going, pool())), NOW))
    assert max(len(line) for line in lines) <= 100


@pytest.mark.parametrize("plan", ["", "[]", '{"pods": "many"}', "{}"])
def test_what_somebody_wrote_over_the_plan_is_no_number_of_pods(plan: str) -> None:
    there = seen(node(annotations={"growth.dev/plan": plan}), pool())
    assert fleet_bars(there).nodes[0].planned_pods is None
    assert list(fleet_lines(fleet_bars(there), NOW))[-1].split()[7] == "-"


def test_machines_that_are_not_nodes_yet_are_on_the_way() -> None:
    there = seen(
        node(), pool(), request("default-1", "Provisioning"), request("default-2", "Pending")
    )
    assert fleet_bars(there).coming == 1


def test_of_more_nodes_than_a_window_has_lines_the_rest_is_counted() -> None:
    many = [node(f"default-{number}") for number in range(9)]
    lines = list(fleet_lines(fleet_bars(seen(*many, pool())), NOW, most=4))
    assert lines[-1] == "and 5 other nodes"


def test_where_there_is_no_node_it_says_so() -> None:
    assert list(fleet_lines(fleet_bars(seen(pool())), NOW))[-1] == "No nodes of growth."


@pytest.mark.parametrize(
    ("part", "shown"), [(0, "░░░░░░░░"), (0.5, "████░░░░"), (1, "████████"), (1.7, "████████")]
)
def test_a_bar_is_as_full_as_what_it_shows_and_never_longer(part: float, shown: str) -> None:
    assert bar(part) == shown


def test_a_long_name_is_shown_by_an_end_that_finds_it_and_a_long_type_by_both_ends() -> None:
    name = f"a-pool-with-a-long-name{LONG.removeprefix('default')}"
    there = seen(node(LONG), node(name), pool())
    lines = list(fleet_lines(fleet_bars(there), NOW, there.names))
    shown = [line.split()[0] for line in lines[-2:]]
    assert shown == ["…long-name-6f1f", "default-6f1f"]
    assert node_named(shown[0], there).name == name
    assert ending("default-1", 15) == "default-1"
    assert shortened("standard-with-more", 9) == "st…h-more"


@pytest.mark.parametrize("every", ["soon", "0s"])
def test_a_span_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str], every: str) -> None:
    assert main(["top", "--every", every]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--every:")


def test_without_a_cluster_one_line_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["top", "--kubeconfig", nobody_listens(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line


@pytest.mark.cluster
def test_into_a_pipe_it_tells_once_and_on_a_terminal_again_and_again(
    defined: LiveCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--kubeconfig", str(defined.kubeconfig)]
    assert main(["top", *own, "-o", "json"]) == 0
    assert "hourlyCost" in json.loads(capsys.readouterr().out)
    drawn, code = on_a_terminal("top", *own, "--every", "100ms", until=b"\x1b[H", times=2)
    assert drawn.startswith(b"\x1b[?1049h")
    # It leaves the terminal as it was, and Ctrl-C is no failure.
    assert drawn.endswith(b"\x1b[?7h\x1b[?25h\x1b[?1049l")
    assert code == 0


def on_a_terminal(*words: str, until: bytes, times: int) -> tuple[bytes, int]:
    """What a command draws until it has drawn something so often, and then Ctrl-C."""
    drawn = b""
    with child_on_a_terminal([sys.executable, "-m", "growth.cli", *words]) as (process, ours):
        deadline = time.monotonic() + IN_TIME
        is_asked = False
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                more = os.read(ours, 65536)
            except OSError:
                # The end of a terminal whose last user is gone.
                break
            drawn += more
            if drawn.count(until) >= times and not is_asked:
                is_asked = True
                process.send_signal(signal.SIGINT)
        return drawn, process.wait(timeout=100)
