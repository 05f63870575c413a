"""Each alert has a page, asks for what there is, and fires when it should and only then."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from generators.monitoring import groups
from tests.live import ROOT
from tests.manifests.metrics import exported
from tests.manifests.programs import program

if TYPE_CHECKING:
    from pathlib import Path

ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for group in groups() for rule in group["rules"]
}
RUNBOOKS = ROOT / "docs" / "runbooks"
DASHBOARD = json.loads((ROOT / "manifests" / "dashboards" / "growth.json").read_text("utf-8"))
PANELS = [panel for each in DASHBOARD["panels"] for panel in (each, *each.get("panels", ()))]
"""Those that are folded away in a row too."""
QUERIES = {
    f"{panel['title']} ({target['refId']})": target["expr"]
    for panel in PANELS
    for target in panel.get("targets", ())
}

WELL = {
    'growth_build_info{process="growth-reconciler"}': "1x150",
    'growth_build_info{process="growth-webhooks"}': "1x150",
    'growth_leader{instance="a"}': "1x150",
    'growth_leader{instance="b"}': "0x150",
    'growth_writing_stopped{instance="a"}': "0x150",
    'growth_invariant_breaches_total{instance="a",invariant="MaximumKept"}': "0x150",
    "growth_leader_renew_failures_total": "0x150",
    'growth_cache_silence_seconds{resource="pods"}': "50x150",
    'growth_cache_unreadable_objects{resource="pods"}': "0x150",
    'growth_subjects_put_aside{kind="machine"}': "0x150",
    'growth_event_loop_lag_seconds_bucket{instance="a",le="0.1"}': "0+10x150",
    'growth_event_loop_lag_seconds_bucket{instance="a",le="1"}': "0+10x150",
    'growth_event_loop_lag_seconds_bucket{instance="a",le="+Inf"}': "0+10x150",
    'growth_admission_reviews_total{outcome="failed"}': "0x150",
    "growth_extender_refused_total": "0x150",
    'growth_demand_stream_whole{instance="a"}': "1x150",
    'growth_demand_stream_whole{instance="b"}': "0x150",
    'growth_cloud_blind_seconds{kind="K",node_class="default"}': "0x150",
    'growth_node_class_blocked{kind="K",node_class="default"}': "0x150",
    'growth_node_class_price_doubts{kind="K",node_class="default"}': "0x150",
    'growth_cloud_listing_doubted{kind="K",node_class="default"}': "0x150",
    'growth_cloud_orphans{kind="K",node_class="default"}': "1x12 0x138",
    'growth_other_program_acts{program="Karpenter"}': "0x150",
    "growth_pending_oldest_seconds": "20x150",
    'growth_pool_blocked{pool="default"}': "0x150",
    'growth_scale_lock{pool="batch"}': "1x20 0x30 1x20 0x80",
    'growth_scale_holds{pool="batch",reason="Cooldown"}': "1x150",
    'growth_scale_holds{pool="batch",reason="MinNodes"}': "1x150",
    'growth_node_removals{pool="default",phase="Pending",reason="Idle"}': "3x150",
    'growth_pool_cost_per_hour{pool="default"}': "0.4x150",
    'growth_pool_cost_limit_per_hour{pool="default"}': "0.5x150",
    'growth_hetzner_rate_limit_remaining{secret="s"}': "3000x150",
    'growth_hetzner_rate_limit{secret="s"}': "3600x150",
    'growth_certificate_expiry_timestamp_seconds{certificate="webhook"}': "9999999x150",
    'growth_certs_expiry_timestamp_seconds{secret="growth-ca"}': "9999999x150",
    'growth_certificate_files_refused{certificate="webhook"}': "0x150",
    "growth_certs_problems": "0x150",
    "growth_certs_crashes_total": "0x150",
    'growth_sizing_hvpas{reason="MinChange"}': "3x150",
    'growth_sizing_hvpas{reason="SourceUnavailable"}': "1x20 0x130",
}
"""Series of two hours and a half, a value each minute."""

ILL: dict[str, dict[str, str]] = {
    "GrowthProcessMissing": {'growth_build_info{process="growth-webhooks"}': "1x20 _x130"},
    "GrowthNobodyLeads": {'growth_leader{instance="a"}': "0x150"},
    "GrowthSeveralLead": {
        'growth_leader{instance="b"}': "1x150",
        'growth_demand_stream_whole{instance="b"}': "1x150",
    },
    "GrowthWritingStopped": {'growth_writing_stopped{instance="a"}': "1x150"},
    "GrowthLeaseFails": {"growth_leader_renew_failures_total": "0+1x150"},
    "GrowthBlindToTheApiServer": {'growth_cache_silence_seconds{resource="pods"}': "0+60x150"},
    "GrowthObjectsUnreadable": {'growth_cache_unreadable_objects{resource="pods"}': "1x150"},
    "GrowthSubjectsPutAside": {'growth_subjects_put_aside{kind="machine"}': "1x150"},
    "GrowthAnswersLate": {'growth_event_loop_lag_seconds_bucket{instance="a",le="0.1"}': "0+1x150"},
    "GrowthAdmissionFails": {'growth_admission_reviews_total{outcome="failed"}': "0+1x150"},
    "GrowthExtenderMisunderstood": {"growth_extender_refused_total": "0+1x150"},
    "GrowthDemandNotStreamed": {'growth_demand_stream_whole{instance="a"}': "0x150"},
    "GrowthCloudNotSeen": {'growth_cloud_blind_seconds{kind="K",node_class="default"}': "0+60x150"},
    "GrowthNodeClassBlocked": {'growth_node_class_blocked{kind="K",node_class="default"}': "1x150"},
    "GrowthPricesDoubted": {
        'growth_node_class_price_doubts{kind="K",node_class="default"}': "2x150"
    },
    "GrowthCloudListingDoubted": {
        'growth_cloud_listing_doubted{kind="K",node_class="default"}': "1x150",
        'growth_pool_brake{pool="a",condition="RemovalHeld",reason="ListingDoubted"}': "1x150",
    },
    "GrowthOrphansStay": {'growth_cloud_orphans{kind="K",node_class="default"}': "2x150"},
    "GrowthRemovalHeld": {
        'growth_pool_brake{pool="a",condition="RemovalHeld",reason="TooManyOrphans"}': "1x150"
    },
    "GrowthAnotherWriter": {
        'growth_pool_brake{pool="a",condition="RemovalHeld",reason="AnotherWriter"}': "1x150"
    },
    "GrowthManySick": {
        'growth_pool_brake{pool="a",condition="ManySick",reason="TooManySick"}': "1x150"
    },
    "GrowthCloudCallsRunOut": {'growth_hetzner_rate_limit_remaining{secret="s"}': "10x150"},
    "GrowthNotAlone": {'growth_other_program_acts{program="Karpenter"}': "1x150"},
    "GrowthPodsWaitLong": {"growth_pending_oldest_seconds": "0+60x150"},
    "GrowthPoolBlocked": {'growth_pool_blocked{pool="default"}': "1x150"},
    "GrowthRemovalFailed": {
        'growth_node_removals{pool="default",phase="RemovalFailed",reason="Idle"}': "1x150"
    },
    "GrowthCostNearLimit": {'growth_pool_cost_per_hour{pool="default"}': "0.49x150"},
    "GrowthScaleUpFails": {'growth_scale_holds{pool="a",reason="Limited"}': "1x150"},
    "GrowthScaleLockHeld": {
        'growth_scale_lock{pool="a"}': "1x150",
        'growth_scale_holds{pool="a",reason="Lock"}': "1x150",
    },
    "GrowthScalingUnhealthy": {'growth_scale_holds{pool="a",reason="Unhealthy"}': "1x150"},
    "GrowthScaleDownBlocked": {'growth_scale_holds{pool="a",reason="Pdb"}': "3x150"},
    "GrowthUseNotMeasured": {'growth_scale_holds{pool="a",reason="Metrics"}': "1x150"},
    "GrowthCertificateRunsOut": {
        'growth_certificate_expiry_timestamp_seconds{certificate="webhook"}': "100000x150"
    },
    "GrowthCertificateNotRenewed": {
        'growth_certs_expiry_timestamp_seconds{secret="growth-ca"}': "0x150"
    },
    "GrowthCertificateFilesRefused": {
        'growth_certificate_files_refused{certificate="webhook"}': "1x150"
    },
    "GrowthCertificatesNeedHelp": {"growth_certs_problems": "1x150"},
    "GrowthCertificatesCrash": {"growth_certs_crashes_total": "0+1x150"},
    "GrowthSizingBlind": {'growth_sizing_hvpas{reason="SourceUnavailable"}': "1x150"},
    "GrowthSizingStuck": {'growth_sizing_hvpas{reason="OwnedByOther"}': "2x150"},
}
"""What differs when the alert is due. For GrowthPausedForLong that would be a day."""


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_what_it_is_and_leads_to_a_page(alert: str) -> None:
    rule = ALERTS[alert]

    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"].keys() == {"summary", "description", "runbook"}
    page = ROOT / rule["annotations"]["runbook"]
    assert page.read_text("utf-8").startswith(f"# {alert}\n")


def test_every_page_is_of_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == ALERTS.keys()


def test_pages_lead_to_pages_that_are_there() -> None:
    for page in RUNBOOKS.glob("*.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("name", [*ALERTS, *QUERIES])
def test_what_is_asked_for_is_told_by_some_process(name: str) -> None:
    asked = ALERTS[name]["expr"] if name in ALERTS else QUERIES[name]
    names = set(re.findall(r"\b(?:growth|process)_\w+", asked))

    assert names
    assert names <= exported()


def test_every_alert_is_tried() -> None:
    assert ALERTS.keys() - ILL.keys() == {"GrowthPausedForLong"}


def test_promtool_finds_nothing_wrong_with_rules_and_queries(tmp_path: Path) -> None:
    queries = [
        {"record": f"query:{number}", "expr": expression}
        for number, expression in enumerate(QUERIES.values())
    ]
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump({"groups": [*groups(), {"name": "q", "rules": queries}]}))

    checked = promtool("check", "rules", "--lint=all", str(rules))

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_alert_fires_when_it_is_due_and_none_else(tmp_path: Path) -> None:
    tests = [story("well", {}, set()), *(story(name, ILL[name], {name}) for name in ILL)]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups()}))
    content = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(content))

    tried = promtool("test", "rules", str(tmp_path / "tests.yaml"))

    assert tried.returncode == 0, tried.stdout + tried.stderr


def story(name: str, differs: dict[str, str], due: set[str]) -> dict[str, Any]:
    """Some hours, and which alerts fire at their end."""
    series = {**WELL, **differs}
    pending = 'count by (alertname) (ALERTS{alertstate="firing"})'
    samples = [{"labels": f'{{alertname="{each}"}}', "value": 1} for each in sorted(due)]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": value} for key, value in series.items()],
        "promql_expr_test": [{"expr": pending, "eval_time": "140m", "exp_samples": samples}],
    }


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(program("promtool")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
