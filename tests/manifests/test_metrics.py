"""The reference of metrics is what the code declares, and their names are as Prometheus wants."""

from __future__ import annotations

import re

import pytest

from generators.metrics import DeclaredMetric, declared_metrics, metrics_page
from tests.live import ROOT

UNITS = ("seconds", "ratio", "bytes", "cores", "per_hour", "total", "info")
OF_A_PLACE = {"pod", "node", "machine_name", "uid", "name"}
METRICS = [pytest.param(each, id=each.name) for each in declared_metrics()]


def test_the_reference_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8")
    assert written == metrics_page(), "make crds writes it anew"


def test_no_name_is_declared_with_two_meanings() -> None:
    names = [(each.process, each.name) for each in declared_metrics()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_named_and_described_as_people_expect(metric: DeclaredMetric) -> None:
    assert re.fullmatch(r"growth_[a-z0-9]+(_[a-z0-9]+)*", metric.name)
    assert metric.meaning[0].isupper() or metric.meaning[0].isdigit()
    assert not metric.meaning.endswith(".")
    assert metric.sort != "histogram" or metric.name.endswith(UNITS)
    assert (metric.sort == "counter") == metric.name.endswith("_total")


@pytest.mark.parametrize("metric", METRICS)
def test_no_metric_is_kept_for_each_pod_or_machine(metric: DeclaredMetric) -> None:
    assert not OF_A_PLACE.intersection(metric.labels)


# What an operator asks, and where the answer is.
QUESTIONS = {
    "pending to bound, by stage": ("growth_pod_stage_seconds", "stage"),
    "pending to bound, at all": ("growth_pod_bound_seconds", "machine"),
    "demand": ("growth_pending_pods", "standing"),
    "who has no place, and why": ("growth_unplaced_pods", "cause"),
    "the gap of plans": ("growth_plan_gap_ratio", "lane"),
    "seconds of plans": ("growth_plan_seconds", "lane"),
    "what stops plans": ("growth_plans_total", "stop"),
    "cost": ("growth_pool_cost_per_hour", "pool"),
    "its bound": ("growth_pool_cost_bound_per_hour", "pool"),
    "requests": ("growth_node_requests", "phase"),
    "unmet offers": ("growth_unmet_offers", "location"),
    "how removals end": ("growth_node_removals_ended_total", "outcome"),
    "what could go for cheaper ones": ("growth_renewals_total", "outcome"),
    "removals": ("growth_node_removals", "reason"),
    "evictions, and all else that is done": ("growth_effects_done_total", "effect"),
    "calls to the provider": ("growth_hetzner_calls_total", "outcome"),
    "calls left": ("growth_hetzner_rate_limit_remaining", "secret"),
    "watch lag": ("growth_cache_lag_seconds", "resource"),
    "watch silence": ("growth_cache_silence_seconds", "resource"),
    "queue depth": ("growth_busy_subjects", "kind"),
    "certificates in use": ("growth_certificate_expiry_timestamp_seconds", "certificate"),
    "certificates kept": ("growth_certs_expiry_timestamp_seconds", "secret"),
    "the leader": ("growth_leader", None),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_of_the_day_has_its_metric(question: str) -> None:
    name, label = QUESTIONS[question]
    [metric] = (each for each in declared_metrics() if each.name == name)
    assert label is None or label in metric.labels
