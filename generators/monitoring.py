"""Manifests for the Prometheus operator and Grafana, generated from plain rules and a dashboard.

The rules are stored in Prometheus' own format, so that promtool can check them and they can be used
without an operator. The dashboard is stored as Grafana saves it, so that it can be edited there.
"""

from __future__ import annotations

from typing import Any

import yaml

from growth.api.installed import COMPONENT_LABEL, NAME_LABEL, NAMESPACE
from growth.installation.shipped import manifests
from growth.readable_yaml import readable_yaml

_HEAD = "# Generated from {}: make crds\n"
_LABELS = {NAME_LABEL: "growth", COMPONENT_LABEL: "metrics"}


def monitoring_files() -> dict[str, str]:
    """File name in manifests/monitoring -> text."""
    return {
        "rules.yaml": _HEAD.format("manifests/alerts") + readable_yaml(_rules()),
        "dashboard.yaml": _HEAD.format("manifests/dashboards") + readable_yaml(_dashboard()),
    }


def groups() -> list[dict[str, Any]]:
    """The groups of all rules."""
    files = sorted((manifests() / "alerts").glob("*.yaml"))
    return [group for file in files for group in yaml.safe_load(file.read_text("utf-8"))["groups"]]


def _rules() -> dict[str, Any]:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "growth", "namespace": NAMESPACE, "labels": _LABELS},
        "spec": {"groups": groups()},
    }


def _dashboard() -> dict[str, Any]:
    """Grafana's sidecar looks for this label."""
    files = sorted((manifests() / "dashboards").glob("*.json"))
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "growth-dashboard",
            "namespace": NAMESPACE,
            "labels": {**_LABELS, "grafana_dashboard": "1"},
        },
        "data": {file.name: file.read_text("utf-8") for file in files},
    }
