"""The stage of what is measured of scaling down: a cluster whose waits are short.

Production waits for minutes where nothing is urgent. The waits here are as short as those that the
peers were measured with, so that what growth itself takes is not hidden behind them.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchmarks import grown, manifests
from growth.kube.call import MERGE_PATCH
from kwok import growing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.lives import Lives
    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

PODS: Final = "/api/v1/namespaces/default/pods"
DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
_POOL: Final = "/apis/growth.dev/v1alpha1/nodepools/default"
PATIENCE: Final = 300.0
RESTED: Final = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the cluster is like."""
    parser.add_argument("--idle-after", default="2s", metavar="D", help="idleAfter of the pool")
    parser.add_argument("--bind-wait", default="5s", metavar="D", help="bindWait of growth")
    parser.add_argument("--quiet", default="5s", metavar="D", help="quiet of growth")
    parser.add_argument("--prices", choices=("aws", "hetzner"), default="aws")
    parser.add_argument("--seed", type=int, default=1, help="draws pods, prices and changes")


@contextmanager
def a_cluster(arguments: argparse.Namespace) -> Iterator[LocalCluster]:
    """One of its own, with all of growth beside it."""
    with grown.a_cluster("scaledown") as cluster:
        growing.install(cluster)
        with _told(GROWTH_BIND_WAIT=arguments.bind_wait, GROWTH_QUIET=arguments.quiet):
            growing.start_growth(cluster)
        yield cluster


@contextmanager
def _told(**settings: str) -> Iterator[None]:
    """Processes that are started meanwhile have these settings."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def offered(arguments: argparse.Namespace, **pool: Any) -> list[dict[str, Any]]:
    """The cloud and its pool, which gives back what is idle after the wait that was chosen."""
    node_class, node_pool = manifests.class_and_pool(arguments.prices, seed=arguments.seed)
    node_pool["spec"] |= {"scaleDown": {"idleAfter": arguments.idle_after}, **pool}
    return [manifests.control_plane(), node_class, node_pool]


async def change_pool(connection: Connection, spec: Mapping[str, Any]) -> None:
    """Give the pool another word on something."""
    body = {"spec": dict(spec)}
    await connection.request("PATCH", _POOL, body=body, content_type=MERGE_PATCH)


async def scale(connection: Connection, replicas: Mapping[str, int]) -> None:
    """Let deployments want so many pods from now on."""
    async with asyncio.TaskGroup() as tasks:
        for name, wanted in replicas.items():
            tasks.create_task(
                connection.request(
                    "PATCH",
                    f"{DEPLOYMENTS}/{name}/scale",
                    body={"spec": {"replicas": wanted}},
                    content_type=MERGE_PATCH,
                )
            )


async def until_bound(lives: Lives, count: int) -> None:
    """Until so many pods that are there have their node."""
    goal = f"{count} pods are bound"
    await lives.until(lambda: len(bound(lives)) >= count, goal, within=PATIENCE)


async def rested(lives: Lives) -> None:
    """Until nothing has changed for a while: what the start left behind isn't what is measured."""
    while (left := max(changes(lives, 0.0), default=0.0) + RESTED - time.time()) > 0:  # noqa: ASYNC110 - that nothing happens has no event
        await asyncio.sleep(left)


def changes(lives: Lives, since: float) -> Iterator[float]:
    """When machines came and went, and pods were moved."""
    for kind, moment in (("node", "created"), ("node", "gone"), ("pod", "evicted")):
        yield from (at for at in lives.moments(kind, moment).values() if at > since)


def bound(lives: Lives) -> dict[str, str]:
    """The node of each pod that is there and has one."""
    return {
        name: life.newest["spec"]["nodeName"]
        for name, life in lives.of("pod").items()
        if not life.is_gone and "nodeName" in life.newest["spec"]
    }


def replicas_of(wanted: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many pods each deployment wants."""
    return {each["metadata"]["name"]: each["spec"]["replicas"] for each in wanted}


def load() -> str:
    """How busy the machine is: a figure without it says little."""
    return f"{os.getloadavg()[0]:.1f}"
