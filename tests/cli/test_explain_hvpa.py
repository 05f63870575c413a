"""`growth explain hvpa`: which size a workload should have, and what keeps it from that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from growth.api.hvpa import Hvpa
from growth.cli.cluster.names import ALONE
from growth.cli.explain.hvpa import explained_hvpa, hvpa_named
from growth.cli.explain.story import explanation_lines
from growth.errors import Misconfigured
from tests.sizing.server import an_hvpa

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ONE = {"replicas": 1, "containers": [{"name": "api", "cpu": "400m", "memory": "1Gi"}]}
TWO = {"replicas": 2, "containers": [{"name": "api", "cpu": "450m", "memory": "1Gi"}]}
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "MinChange",
    "lastTransitionTime": "2026-01-01T11:00:00Z",
}
TOLD: dict[str, Any] = {
    "current": ONE,
    "desired": TWO,
    "decidedBy": {"source": "VPA", "container": "api", "resource": "cpu", "total": "900m"},
    "sources": [
        {"name": "HPA", "trusted": False, "reason": "there is none for this workload"},
        {"name": "VPA", "trusted": True, "totals": [{"name": "api", "cpu": "900m"}]},
    ],
    "blocked": {
        "reason": "MaintenanceWindow",
        "message": "the maintenanceTimeWindow isn't open",
        "until": "2026-01-01T14:00:00Z",
    },
    "lastScaling": {"at": "2026-01-01T11:00:00Z", "before": ONE, "after": TWO},
    "conditions": [READY],
}


def hvpa(namespace: str = "shop", **status: Any) -> Hvpa:
    metadata = {"name": "api", "namespace": namespace}
    return Hvpa.model_validate({**an_hvpa(), "metadata": metadata, "status": status})


def lines(found: Hvpa) -> list[str]:
    return list(explanation_lines(explained_hvpa(found, NOW), NOW, ALONE))


def test_it_says_what_would_be_done_who_decided_and_what_waits() -> None:
    assert lines(hvpa(**TOLD)) == [
        "hvpa shop/api: Deployment api, blocked by MaintenanceWindow",
        "  now          1 x api 400m of cpu, api 1Gi of memory",
        "  should have  2 x api 450m of cpu, api 1Gi of memory",
        "  decided by   the VPA: 900m of cpu for api in all replicas",
        "  HPA          not believed: there is none for this workload",
        "  VPA          900m of cpu for api",
        "  blocked      MaintenanceWindow: the maintenanceTimeWindow isn't open (ends in 2 h)",
        "  last change  1 h ago, to 2 x api 450m of cpu, api 1Gi of memory",
    ]


def test_one_that_nobody_has_looked_at_says_so() -> None:
    first, *rest = lines(hvpa())
    assert first.endswith("not looked at yet")
    assert "growth-sizing" in rest[0]


def test_programs_get_the_figures() -> None:
    found = explained_hvpa(hvpa(**TOLD), NOW)
    assert found.figures == {"replicas": 1, "desired": 2, "blocked": "MaintenanceWindow"}


@pytest.mark.parametrize(
    ("name", "namespace", "place"),
    [("api", None, "shop"), ("shop/api", None, "shop"), ("api", "shop", "shop")],
)
def test_an_hvpa_is_found_by_its_name(name: str, namespace: str | None, place: str) -> None:
    assert hvpa_named(name, namespace, [hvpa()]).metadata.namespace == place


def test_a_name_that_two_have_needs_its_namespace() -> None:
    two = [hvpa("shop"), hvpa("test")]
    assert hvpa_named("test/api", None, two).metadata.namespace == "test"
    with pytest.raises(Misconfigured, match='no hvpa "api"'):
        hvpa_named("api", None, two)
