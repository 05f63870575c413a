"""A newer and an older growth take over from each other while the definitions change.

The definitions have a field more than this version knows, in the spec and in the status of each
kind. The newer version is the same code with a mouth that writes that field with all that it
writes; the older one is the code as it is.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api import crd
from tests.live import wait_until
from tests.thread.growing import (
    EXAMPLE,
    cluster_for,
    deployment,
    machines,
    pool_of,
    reconciling,
    wait_until_bound,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

OLDER: Final = "from reconciler.__main__ import main; main()"
NEWER: Final = """
from growth.kube.transport import Connection

known = Connection.request

async def request(self, method, path, **words):
    body = words.get("body")
    if "/growth.dev/" in path and isinstance(body, dict):
        for part in {"spec", "status"} & body.keys():
            words["body"] = body = {**body, part: {**body[part], "nextVersion": "written"}}
    return await known(self, method, path, **words)

Connection.request = request
from reconciler.__main__ import main; main()
"""
KINDS: Final = ("nodepools", "noderequests", "noderecords")


def definitions_of_the_next_version() -> str:
    """The shipped definitions, with a field more in each spec and each status."""
    found = list(crd.definitions().values())
    for definition in found:
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for part in ("spec", "status"):
            schema["properties"][part]["properties"]["nextVersion"] = {"type": "string"}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": found})


@pytest.fixture
def changed() -> Iterator[LiveCluster]:
    """A cluster whose definitions are newer than this growth, and a pool that uses them."""
    with cluster_for("versions") as cluster:
        cluster.kubectl(
            *("apply", "--server-side", "--force-conflicts", "-f", "-"),
            input=definitions_of_the_next_version(),
        )
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        pool = pool_of("cx23")
        pool["spec"] |= {"nextVersion": "written", "scaleDown": {"idleAfter": "1h"}}
        # The API server serves the new field a moment after it has accepted it.
        wait_until(lambda: _is_kept(cluster, pool), "the new field is kept")
        yield cluster


def _is_kept(cluster: LiveCluster, pool: dict[str, Any]) -> bool:
    cluster.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(pool))
    return "nextVersion" in cluster.get("nodepool", "cx23")["spec"]


def leads(log: Path) -> None:
    wait_until(lambda: '"message": "leading"' in log.read_text(), f"{log.name} leads")


def lost(cluster: LiveCluster) -> list[str]:
    """The objects of the pool in which the newer version's word is missing."""
    return [
        f"{each['kind']} {each['metadata']['name']}: {part}"
        for kind in KINDS
        for each in cluster.get(kind)["items"]
        if each["metadata"]["name"].startswith("cx23")
        for part in ("spec", "status")
        if each.get(part, {}).get("nextVersion") != "written"
    ]


def grow(cluster: LiveCluster, name: str, *, bound: int) -> None:
    """A pod more, which fills a machine, and its machine."""
    cluster.create(deployment(name, pool="cx23", replicas=1, cpu="1500m", memory="1Gi"))
    wait_until_bound(cluster, "default", count=bound)


def test_an_older_growth_takes_over_and_loses_no_word_of_a_newer_one(
    changed: LiveCluster, tmp_path: Path
) -> None:
    newer, older, again = (tmp_path / f"{each}.log" for each in ("newer", "older", "again"))
    with contextlib.ExitStack() as standing_by:
        with reconciling(changed, newer, started_by=("-c", NEWER)):
            leads(newer)
            grow(changed, "first", bound=1)
            wait_until(lambda: lost(changed) == [], "the newer one has written its word everywhere")
            standing_by.enter_context(reconciling(changed, older, started_by=("-c", OLDER)))
        leads(older)
        grow(changed, "second", bound=2)
        wait_until(lambda: _ready(changed) == 2, "the older one patches the status of the pool")
        assert {title for title in lost(changed) if "NodePool" in title} == set()
        assert len({title for title in lost(changed) if "NodeRecord" in title}) == 2, "its own"

        with reconciling(changed, again, started_by=("-c", NEWER)):
            standing_by.close()
            leads(again)
            grow(changed, "third", bound=3)
            wait_until(lambda: _ready(changed) == 3, "the newer one goes on")

    names = {each["metadata"]["name"] for each in changed.get("noderecords")["items"]}
    assert names == machines(changed).keys()
    assert len(names) == 3, "nothing is bought twice, and nothing is given back"


def _ready(cluster: LiveCluster) -> int:
    return int(cluster.get("nodepool", "cx23")["status"]["ready"])
