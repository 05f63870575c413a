"""The alerts ask for metrics that there are."""

from __future__ import annotations

import re

import yaml
from prometheus_client import CollectorRegistry

from certs import CertsMetrics
from growth.service.tls.metrics import CertificateMetrics
from tests.live import ROOT


def test_every_alert_asks_for_metrics_and_labels_that_are_exported() -> None:
    registry = CollectorRegistry()
    CertsMetrics(registry)
    CertificateMetrics(registry)
    exported = {
        sample.name + suffix
        for sample in registry.collect()
        for suffix in (["_total"] if sample.type == "counter" else [""])
    }

    rules = yaml.safe_load((ROOT / "manifests/alerts/certificates.yaml").read_text("utf-8"))

    alerts = rules["groups"][0]["rules"]
    asked = {name for alert in alerts for name in re.findall(r"growth_\w+", alert["expr"])}
    assert asked <= exported
    assert exported - asked == {"growth_certificate_swaps_total", "growth_certs_writes_total"}
    labels = set(re.findall(r"\$labels\.(\w+)", str(alerts)))
    assert labels == {"certificate", "secret", "instance"}
