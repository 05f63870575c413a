"""A cluster with growth beside it, as a person starts and ends it."""

from __future__ import annotations

import json
import os

import pytest

from tests.live import run_kwok

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(240)]


def clusters() -> set[str]:
    return {each["name"] for each in json.loads(run_kwok("status", "-o", "json").stdout)}


def test_up_with_growth_leads_and_down_ends_all_of_it() -> None:
    name = f"growth-test-{os.getpid()}-up"
    try:
        up = run_kwok("up", "--name", name, "--growth", within=120)
        assert up.returncode == 0, up.stderr
        assert "growth: leading after" in up.stderr
        again = run_kwok("up", "--name", name, "--growth", within=120)
        assert again.stdout == up.stdout
    finally:
        run_kwok("down", "--name", name)
    assert name not in clusters()


def test_the_demo_ends_by_itself_and_leaves_nothing_behind() -> None:
    demo = run_kwok("demo", within=200)
    assert demo.returncode == 0, demo.stderr
    assert "50 of 50 pods bound" in demo.stdout
    # and what was sold out is bought as something else
    assert "planned anew without it" in demo.stdout
    assert "56 of 56 pods bound" in demo.stdout
    assert "growth-demo" not in clusters()
