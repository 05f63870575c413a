"""The cluster on which scaling down is measured, with short waits.

Production waits minutes where nothing is urgent. The waits here are as short as in the measurements
of other autoscalers, so that they don't hide growth's own time.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchmarks import grown, manifests
from growth.api.deletion_cost import PodDeletionCost
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
    """The options of the cluster."""
    parser.add_argument("--idle-after", default="2s", metavar="D", help="idleAfter of the pool")
    parser.add_argument("--bind-wait", default="5s", metavar="D", help="bindWait of growth")
    parser.add_argument("--quiet", default="5s", metavar="D", help="quiet of growth")
    parser.add_argument(
        "--pod-deletion-cost",
        type=PodDeletionCost,
        choices=list(PodDeletionCost),
        default=PodDeletionCost.UNTOUCHED,
        help="whether growth says which pods go first",
    )
    parser.add_argument("--prices", choices=("aws", "hetzner"), default="aws")
    parser.add_argument("--seed", type=int, default=1, help="seed for pods, prices and changes")


@contextmanager
def a_cluster(arguments: argparse.Namespace) -> Iterator[LocalCluster]:
    """A new cluster, with all of growth next to it."""
    with grown.a_cluster("scaledown") as cluster:
        growing.install(cluster)
        with _told(
            GROWTH_BIND_WAIT=arguments.bind_wait,
            GROWTH_QUIET=arguments.quiet,
            GROWTH_POD_DELETION_COST=arguments.pod_deletion_cost.value,
        ):
            growing.start_growth(cluster)
        yield cluster


@contextmanager
def _told(**settings: str) -> Iterator[None]:
    """Processes started in this context have these settings."""
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
    """The provider and its pool, which gives back idle nodes after the chosen wait."""
    node_class, node_pool = manifests.class_and_pool(arguments.prices, seed=arguments.seed)
    node_pool["spec"] |= {"scaleDown": {"idleAfter": arguments.idle_after}, **pool}
    return [manifests.control_plane(), node_class, node_pool]


async def change_pool(connection: Connection, spec: Mapping[str, Any]) -> None:
    """Change the pool."""
    body = {"spec": dict(spec)}
    await connection.request("PATCH", _POOL, body=body, content_type=MERGE_PATCH)


async def scale(connection: Connection, replicas: Mapping[str, int]) -> None:
    """Scale deployments to this many pods."""
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
    """Wait until this many existing pods are bound."""
    goal = f"{count} pods are bound"
    await lives.until(lambda: len(bound(lives)) >= count, goal, within=PATIENCE)


async def rested(lives: Lives) -> None:
    """Wait until nothing has changed for a while, so that the start isn't measured."""
    while (left := max(changes(lives, 0.0), default=0.0) + RESTED - time.time()) > 0:  # noqa: ASYNC110 - that nothing happens has no event
        await asyncio.sleep(left)


def changes(lives: Lives, since: float) -> Iterator[float]:
    """When machines came and went, and pods were moved."""
    for kind, moment in (("node", "created"), ("node", "gone"), ("pod", "evicted")):
        yield from (at for at in lives.moments(kind, moment).values() if at > since)


def bound(lives: Lives) -> dict[str, str]:
    """The node of each bound pod."""
    return {
        name: life.newest["spec"]["nodeName"]
        for name, life in lives.of("pod").items()
        if not life.is_gone and "nodeName" in life.newest["spec"]
    }


def replicas_of(wanted: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The wanted number of pods of each deployment."""
    return {each["metadata"]["name"]: each["spec"]["replicas"] for each in wanted}


def load() -> str:
    """How busy the machine is, because a figure without it means little."""
    return f"{os.getloadavg()[0]:.1f}"
