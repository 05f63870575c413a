"""From a pod to Running on a server that was bought for it, by stage.

    python -m tests.machines.stages [RUNS]

prints the median and the longest of some runs, in seconds since the pod was created.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kwok.apiserver import ask_api_server
from kwok.clusters import find_cluster
from tests.machines.sites import machine_site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kwok.clusters import LocalCluster
    from tests.machines.sites import MachineSite

POOL: Final = "measured"
_REQUESTS: Final = "/apis/growth.dev/v1alpha1/noderequests"
_NODES: Final = f"/api/v1/nodes?labelSelector=growth.dev%2Fpool%3D{POOL}"
_POD: Final = "/api/v1/namespaces/default/pods/web"
_LONGEST: Final = 120.0


def stages_of(place: MachineSite) -> Mapping[str, Callable[[], bool]]:
    """Each stage, and whether it is reached, in their order."""
    cluster = find_cluster(place.cluster.name)
    assert cluster is not None
    return {
        "planned: its NodeRequest exists": lambda: bool(_listed(cluster, _REQUESTS)),
        "requested: the API has accepted the server": lambda: bool(place.site.project.servers),
        "on: the server boots": lambda: bool(place.machines()),
        "joined: the Node exists": lambda: bool(_listed(cluster, _NODES)),
        "Ready: the Node is Ready": lambda: any(map(_is_ready, _listed(cluster, _NODES))),
        "Running: the pod runs": lambda: _phase(cluster) == "Running",
    }


def _listed(cluster: LocalCluster, path: str) -> list[dict[str, Any]]:
    return list((ask_api_server(cluster, path).body or {}).get("items", []))


def _is_ready(node: dict[str, Any]) -> bool:
    told = node["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in told)


def _phase(cluster: LocalCluster) -> str:
    return str((ask_api_server(cluster, _POD).body or {}).get("status", {}).get("phase", ""))


def one_run(place: MachineSite) -> dict[str, float]:
    """The seconds until each stage."""
    place.makes_pool(POOL)
    place.runs("web", pool=POOL)
    began, reached = time.monotonic(), dict[str, float]()
    for name, is_reached in stages_of(place).items():
        while not is_reached():
            assert time.monotonic() - began < _LONGEST, name
            time.sleep(0.01)
        reached[name] = time.monotonic() - began
    place.ends()
    return reached


def main(runs: int) -> None:
    """Measure, and print a table."""
    with machine_site("stages", Path(tempfile.mkdtemp())) as place:
        measured = [one_run(place) for _ in range(runs)]
    print("| stage | median | longest |\n|---|---|---|")  # noqa: T201 - for people
    for name in measured[0]:
        seconds = [each[name] for each in measured]
        print(f"| {name} | {statistics.median(seconds):.1f} s | {max(seconds):.1f} s |")  # noqa: T201 - for people


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
