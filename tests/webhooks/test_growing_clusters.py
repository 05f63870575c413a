"""A local cluster with growth beside it: its pods are admitted without another word."""

from __future__ import annotations

import json
import os

import pytest

from tests.live import ROOT, bring_down, bring_up, run_kwok, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.long]

POOL = ROOT / "docs" / "examples" / "kwok" / "pool.yaml"


def test_up_with_growth_admits_pods_by_the_webhook() -> None:
    name = f"growth-test-{os.getpid()}-admitted"
    try:
        assert run_kwok("up", "--name", name, "--growth", within=200).returncode == 0
        cluster = bring_up(name)
        cluster.kubectl("apply", "-f", str(POOL))
        run = ("run", "web", "--image=none", "--dry-run=server", "--output=json")

        def is_drawn() -> bool:
            spec = json.loads(cluster.kubectl(*run))["spec"]
            return "default" in json.dumps(spec.get("affinity"))

        wait_until(is_drawn, "the pod is drawn to the default pool")
        astray = '{"spec": {"nodeSelector": {"growth.dev/pool": "gqu"}}}'
        warned = cluster.try_kubectl(*run, "--overrides", astray).stderr
        assert 'NodePool "gqu" doesn\'t exist, so it provides no node; available: default' in warned
    finally:
        bring_down(name)
