"""What all tests share, above all a real control plane, started for the session when needed.

GROWTH_TEST_CLUSTER=NAME uses a running cluster (or starts one and keeps it), so that a single test
needs no start. Each process of a parallel run then has its own cluster, NAME-gwN.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import secrets
import signal
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from kwok.clusters import all_clusters
from tests import order
from tests.live import (
    ROOT,
    TEST_WITHIN,
    LiveCluster,
    bring_down,
    bring_up,
    kept_cluster,
    wait_until,
)
from tests.simulation import today
from tests.spreading import by_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

# On a busy machine, the time of an example, and of generating it, says nothing about the product.
settings.register_profile(
    "any machine", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
)
settings.load_profile("any machine")


def pytest_configure() -> None:
    """What all processes of a run share."""
    # They draw the same, even if the run continues past midnight.
    os.environ[order.VARIABLE] = order.seed_from(os.environ)
    # A shell starts background commands with Ctrl-C ignored, and their children inherit that.
    # Programs that tests start must receive it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """How to repeat a failure that depends on the order, or on a seed of the day."""
    seed = order.seed_from(os.environ)
    return [
        f"order of files: {order.replay(seed, config.invocation_params.args)}",
        f"seeds of today: {today.replay()}",
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file keep their order. With a cluster, they have time for its start, too."""
    seed = order.seed_from(os.environ)
    items.sort(key=lambda item: order.place_of(item.path.relative_to(ROOT), seed=seed))
    for item in items:
        if item.get_closest_marker("cluster") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TEST_WITHIN))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A cluster is shared only within one process."""
    return by_cluster(config, log)


@pytest.fixture(scope="session", autouse=True)
def no_event_loop_between_tests() -> None:
    """Otherwise looptime would create a loop that is never closed for a test without one."""
    asyncio.set_event_loop(None)


@pytest.fixture(autouse=True)
def logging_stays_as_it_was() -> Iterator[None]:
    """A process configures its logging; in tests, many follow each other in one process."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, warnings.showwarning
    ours = structlog.get_config().copy() if structlog.is_configured() else None
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level, warnings.showwarning = before
    if ours is None:
        structlog.reset_defaults()
    else:
        structlog.configure(**ours)


@pytest.fixture(scope="session")
def cluster() -> Iterator[LiveCluster]:
    """A running cluster, shared by all tests of the session; use a namespace of your own."""
    kept = kept_cluster()
    if kept is not None:
        yield bring_up(kept)
        return
    _remove_clusters_of_dead_sessions()
    name = f"growth-test-{os.getpid()}"
    try:
        yield bring_up(name)
    finally:
        bring_down(name)


def _remove_clusters_of_dead_sessions() -> None:
    """A session that was killed could not remove its clusters."""
    # Not with `status`, which also contacts clusters that others are just starting.
    for found in list(all_clusters()):
        session = re.fullmatch(r"growth-test-(\d+)(-.*)?", found.name)
        if session is not None and not Path("/proc", session[1]).exists():
            bring_down(found.name)


@pytest.fixture
def namespace(cluster: LiveCluster) -> Iterator[str]:
    """A namespace for one test. Its pods end with the test; the rest may take longer."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    # Without its service account, no pod can be created in it.
    accounts = ("serviceaccounts", "--namespace", name)
    wait_until(lambda: cluster.get(*accounts)["items"], "the service account")
    yield name
    with contextlib.suppress(OSError, HTTPException):
        cluster.ask("DELETE", f"/api/v1/namespaces/{name}")
        # From now on no controller can replace a pod. If a test has deleted a pod's node, no
        # kubelet ends the pod, and the garbage collector would delete it only after almost a
        # minute.
        cluster.ask("DELETE", f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")
