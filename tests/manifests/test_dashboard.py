"""The dashboard shows something: a real Prometheus scrapes growth at work and answers its queries.

Work goes on meanwhile, since a rate is made of what changes. That every name in a query is told by
some process is tested in test_alerts.py, without a cluster and without a Prometheus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.live import wait_until
from tests.manifests.prometheus import scraping
from tests.manifests.test_alerts import PANELS, QUERIES
from tests.thread.growing import deployment, wait_until_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.manifests.beside import Beside
    from tests.manifests.prometheus import Prometheus

pytestmark = [pytest.mark.cluster, pytest.mark.long]

PROCESSES = ("webhooks", "extender", "reconciler")
SCALING = next(each for each in PANELS if each["title"] == "Details: Scaling policies")
NOTHING_TO_SHOW = {
    "Calls left at Hetzner (A)": "no machine comes from Hetzner here",
    "Failures (A)": "no list and no watch has to fail here",
    **dict.fromkeys(
        (f"{panel['title']} (A)" for panel in SCALING["panels"]),
        "the only pool here is scaled by demand",
    ),
}


@pytest.fixture(scope="module")
def prometheus(beside: Beside, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that has seen pods come and be bound."""
    targets = {name: beside.ports[name] for name in PROCESSES}
    with scraping(targets, tmp_path_factory.mktemp("prometheus")) as running:
        wait_until(lambda: running.series("up == 1") == len(PROCESSES), "all are scraped")
        requests = {"cpu": "1", "memory": "1Gi"}
        more = deployment("more", pool="default", replicas=6, **requests)
        beside.cluster.create(more)
        wait_until_bound(beside.cluster, "default", count=12)
        yield running


@pytest.mark.parametrize("panel", [name for name in QUERIES if name not in NOTHING_TO_SHOW])
def test_a_panel_shows_something(prometheus: Prometheus, panel: str) -> None:
    wait_until(lambda: prometheus.series(QUERIES[panel]), f"{panel}: {QUERIES[panel]}")


def test_a_panel_of_what_is_not_used_here_is_empty(prometheus: Prometheus) -> None:
    assert prometheus.series(QUERIES["Calls left at Hetzner (A)"]) == 0


def test_nothing_is_alerted_of_where_all_is_well(prometheus: Prometheus) -> None:
    assert prometheus.troubles() == []
    # A certificate that a process isn't given runs out at no time, and the like, would show here.
    assert {name for name, state in prometheus.alerts().items() if state == "firing"} == set()
