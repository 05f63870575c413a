"""A growth that writes records takes over machines from one that wrote none, on a control plane.

What the version before left is made by this one, without its records: Nodes with growth's labels
and annotations, pods on them, some NodeRequests, and the provider's machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clouds.growing import TOKEN, cluster_of_its_own, site
from tests.live import wait_until
from tests.thread.growing import (
    SMALL_CLASS,
    cluster_for,
    deployment,
    install_definitions,
    machines,
    pool_of,
    reconciling,
    wait_until_bound,
    wait_until_empty,
)
from tests.trust.test_on_a_real_cluster import pods_of, records

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clouds.growing import Story
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

SIZE = {"cpu": "1500m", "memory": "1Gi"}
"""One fills a machine."""


def forget_records(cluster: LiveCluster, *, request: str) -> None:
    """As before the upgrade: no records, and a request that was deleted after its time to live."""
    cluster.kubectl("delete", "noderequest", request)
    cluster.kubectl("delete", "crd", "noderecords.growth.dev")
    install_definitions(cluster)
    assert records(cluster) == []


def uids(cluster: LiveCluster) -> dict[str, str]:
    """Each Node by its name: a machine that is replaced, or a Node made anew, has another UID."""
    nodes = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in nodes}


def test_simulated_machines_and_their_pods_outlive_the_upgrade(tmp_path: Path) -> None:
    with cluster_for("upgraded") as cluster:
        pool = pool_of("small")
        pool["spec"] |= {"scaleDown": {"idleAfter": "1h"}}
        cluster.create(SMALL_CLASS, pool)
        for namespace in ("kept", "idle", "more"):
            cluster.kubectl("create", "namespace", namespace)
        with reconciling(cluster, tmp_path / "before"):
            cluster.create(deployment("web", pool="small", replicas=2, **SIZE), namespace="kept")
            cluster.create(deployment("web", pool="small", replicas=1, **SIZE), namespace="idle")
            wait_until_bound(cluster, "kept", count=2)
            wait_until_bound(cluster, "idle", count=1)
            cluster.kubectl("delete", "deployment", "web", "--namespace", "idle")
            wait_until_empty(cluster, "idle")
        with reconciling(cluster, tmp_path / "before", GROWTH_BIND_WAIT="0s"):
            wait_until(lambda: marked(cluster), "the idle one is marked")
        before, pods = uids(cluster), pods_of(cluster)
        forget_records(cluster, request=min(before))

        with reconciling(cluster, tmp_path / "after"):
            wait_until(lambda: records(cluster) == sorted(before), "all recorded")
            # One more than the idle machine holds.
            cluster.create(deployment("web", pool="small", replicas=2, **SIZE), namespace="more")
            wait_until_bound(cluster, "more", count=2)
            wait_until(lambda: len(records(cluster)) == 4, "the new one, too")
        assert before.items() <= uids(cluster).items()
        assert len(machines(cluster)) == 4
        assert pods_of(cluster) == pods
        assert cluster.get("noderemovalrequests")["items"] == []


def marked(cluster: LiveCluster) -> list[str]:
    """Nodes that are about to go."""
    return [
        each["metadata"]["name"]
        for each in cluster.get("nodes")["items"]
        if "growth.dev/scale-down-at" in each["metadata"].get("annotations", {})
    ]


def test_servers_that_hetzner_lists_outlive_the_upgrade(tmp_path: Path) -> None:
    with cluster_of_its_own("upgraded-hetzner") as cluster, site(cluster, tmp_path) as place:
        place.keep_token(TOKEN)
        with place.growing():
            story = place.tell("web", pool={"serverTypes": [{"name": "cx23", "max": 4}]})
            story.wants(3)
            story.is_served(3)
            story.is_settled(3)
        before, nodes, seats = ids(story), uids(cluster), story.nodes()
        forget_records(cluster, request=min(nodes))
        ordered = place.project.calls["POST /servers"]
        # Pods wait already when the new version starts. If it took the pool for empty, it would buy
        # beyond its maximum.
        cluster.kubectl("scale", "deployment", "web", "--replicas=6")

        with place.growing():
            # The fourth one may be recorded, too, before we look.
            wait_until(lambda: set(nodes) <= set(records(cluster)), "all recorded")
            story.is_served(4)
            wait_until(lambda: len(records(cluster)) == 4, "the new one, too")
        assert set(before) < set(ids(story))
        assert len(story.servers()) == 4
        assert place.project.calls["POST /servers"] == ordered + 1
        assert nodes.items() <= uids(cluster).items()
        assert set(seats) < set(story.nodes())
        spec = cluster.get("noderecord", min(nodes))["spec"]
        assert (spec["serverType"], spec["pool"]) == ("cx23", "web")


def ids(story: Story) -> list[int]:
    return sorted(server.id for server in story.servers())
