"""A cluster with growth beside it, as a person starts and ends it."""

from __future__ import annotations

import json
import os
import urllib.request
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.extender_live import node, replicas
from tests.extender.live import bound
from tests.kwok.told import assert_it_adds_up
from tests.live import bring_up, run_kwok, wait_until

if TYPE_CHECKING:
    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.long]


def clusters() -> set[str]:
    return {each["name"] for each in json.loads(run_kwok("status", "-o", "json").stdout)}


def questions(cluster: LiveCluster) -> float:
    """How often the extender's filter was asked, by its own metrics."""
    log = cluster.kubeconfig.parents[2] / "growth.log"
    started = next(
        line
        for line in map(json.loads, log.read_text("utf-8").splitlines())
        if (line["process"], line["message"]) == ("growth-extender", "started")
    )
    with urllib.request.urlopen(f"http://{started['metrics_address']}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
    samples = (sample for family in families for sample in family.samples)
    return sum(
        each.value
        for each in samples
        if each.name == "growth_extender_verb_seconds_count" and each.labels["verb"] == "filter"
    )


def test_up_with_growth_leads_and_down_ends_all_of_it() -> None:
    name = f"growth-test-{os.getpid()}-up"
    try:
        up = run_kwok("up", "--name", name, "--growth")
        assert up.returncode == 0, up.stderr
        assert "growth: leading after" in up.stderr
        again = run_kwok("up", "--name", name, "--growth")
        assert again.stdout == up.stdout

        # and the cluster's own scheduler asks the extender
        cluster = bring_up(name)
        before = questions(cluster)
        one = replicas("web", count=1, scheduler="default-scheduler", cpu="1m", group="here")
        cluster.create(node("here", group="here"), one)
        wait_until(lambda: bound(cluster, "default", app="web") == 1, "a bound pod")
        wait_until(lambda: questions(cluster) > before, "the figures of the calls")
    finally:
        run_kwok("down", "--name", name)
    assert name not in clusters()


def test_the_demo_ends_by_itself_and_leaves_nothing_behind() -> None:
    demo = run_kwok("demo", within=200)
    assert demo.returncode == 0, demo.stderr
    assert "50 of 50 pods bound" in demo.stdout
    # and what was sold out is bought as something else
    assert "planned again without it" in demo.stdout
    assert "56 of 56 pods bound" in demo.stdout
    assert_it_adds_up(demo.stdout)
    assert "growth-demo" not in clusters()
