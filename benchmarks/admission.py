"""What admission costs the API server: pods created per second with a webhook, a policy, neither.

It uses a real control plane, on which the controller manager creates pods of 40 deployments, so
each pod's creation delays the next one's. No scheduler handles them. The ways take turns on one
cluster. Goal: at least 0.9 of the pods per second without admission. On a busy machine, the CPU
time says more than the rate.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import grown, manifests
from benchmarks.lives import watched
from benchmarks.scaledown_stage import load
from kwok import growing
from webhooks.registration.policy import binding, policy
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

GOAL: Final = 0.9
NEITHER: Final = "neither"
UNCONDITIONAL: Final = "the webhook without conditions"
"""All pods are sent to it: so it shows what the conditions cost."""
SERVER: Final = "kube-apiserver"
_REGISTRATIONS: Final = "/apis/admissionregistration.k8s.io/v1"
_PODS: Final = "/api/v1/namespaces/default/pods"
_TAINT: Final = {"key": "example.com/benchmark", "value": "yes", "effect": "NoSchedule"}
_PATIENCE: Final = 120.0
_PAUSE: Final = 0.1
_IN_A_ROW: Final = 5
"""Dry runs that must agree: an API server learns of a registration only after it was written."""


Ways = list[tuple[str, list[dict[str, Any]]]]
"""The name of each way, and what is registered for it."""


class AdmittedBurst(NamedTuple):
    """One burst."""

    per_second: float
    server: float
    """CPU milliseconds of the API server for each pod."""
    others: float
    """The same of growth's process."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The size of a burst, and how often."""
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="bursts of each way")
    parser.add_argument("--pods", type=int, default=1000, metavar="N", help="pods of a burst")
    parser.add_argument(
        "--deployments", type=int, default=40, metavar="N", help="deployments of these pods"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure in turns, and print."""
    before = load()
    with grown.a_cluster("admission") as cluster:
        growing.install(cluster)
        growing.start_growth(cluster, ("webhooks",))
        found = asyncio.run(_measured(cluster, arguments))
    print(
        f"{arguments.pods} pods of {arguments.deployments} deployments; load {before} to {load()}"
    )
    print("\n".join(told(found)))
    return 0


def told(found: Mapping[str, Sequence[AdmittedBurst]]) -> list[str]:
    """A line for each way: medians, and the ratio to neither of them in the same round."""
    lines = [f"  {'':32}{'pods/s':>8}{'CPU of the API server':>24}{'of growth':>12}{'ratio':>8}"]
    for way, bursts in found.items():
        rate, server, ours = (median(each) for each in zip(*bursts, strict=True))
        lines.append(f"  {way:32}{rate:8.0f}{server:21.2f} ms{ours:9.2f} ms{_ratio(found, way)}")
    return lines


def _ratio(found: Mapping[str, Sequence[AdmittedBurst]], way: str) -> str:
    both = zip(found[way], found[NEITHER], strict=True)
    ratios = [ours.per_second / bare.per_second for ours, bare in both]
    text = f"{median(ratios):8.2f}"
    if way == NEITHER:
        return text
    return f"{text}   ({min(ratios):.2f} to {max(ratios):.2f}; goal >= {GOAL})"


async def _measured(
    cluster: LocalCluster, arguments: argparse.Namespace
) -> Mapping[str, Sequence[AdmittedBurst]]:
    found: defaultdict[str, list[AdmittedBurst]] = defaultdict(list)
    node_class, pool = manifests.class_and_pool("hetzner", seed=1)
    pool["spec"]["taints"] = [_TAINT]
    async with grown.connected(cluster) as connection:
        await grown.create(connection, [node_class, pool])
        ways = await _ways(connection)
        for number in range(arguments.rounds + 1):
            # What comes first after a pause is slower.
            for way, registered in _rotated(ways, number):
                await _register(connection, registered)
                burst = await _burst(connection, cluster, arguments)
                # The first round warms up the caches of all programs.
                found[way].extend([burst] if number else [])
    return found


def _rotated(ways: Ways, number: int) -> Ways:
    return ways[number % len(ways) :] + ways[: number % len(ways)]


async def _ways(connection: Connection) -> Ways:
    path = f"{_REGISTRATIONS}/{_COLLECTIONS['MutatingWebhookConfiguration']}"
    [webhook] = (await connection.request("GET", path)).json()["items"]
    # With the address and the authority of this cluster.
    webhook = {**configuration(), "webhooks": webhook["webhooks"]}
    plain = [
        {k: v for k, v in each.items() if k != "matchConditions"} for each in webhook["webhooks"]
    ]
    return [
        (NEITHER, []),
        ("webhook", [webhook]),
        (UNCONDITIONAL, [{**webhook, "webhooks": plain}]),
        ("policy", [policy(), binding()]),
    ]


_COLLECTIONS: Final = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
}


async def _register(connection: Connection, wanted: Sequence[dict[str, Any]]) -> None:
    """Leave only these registrations, and wait until the API server acts accordingly."""
    for collection in _COLLECTIONS.values():
        await connection.request("DELETE", f"{_REGISTRATIONS}/{collection}")
    for each in wanted:
        path = f"{_REGISTRATIONS}/{_COLLECTIONS[each['kind']]}"
        await connection.request("POST", path, body=each)
    async with asyncio.timeout(_PATIENCE):
        agreed = 0
        while agreed < _IN_A_ROW:
            is_changed = await _is_changed(connection)
            agreed = agreed + 1 if is_changed == bool(wanted) else 0
            await asyncio.sleep(_PAUSE)


async def _is_changed(connection: Connection) -> bool:
    """Whether a pod gets what the pool requires."""
    pod = manifests.pod("asks", requests={"cpu": "1"})
    answer = await connection.request("POST", _PODS, query={"dryRun": "All"}, body=pod)
    keys = {each.get("key") for each in answer.json()["spec"].get("tolerations", ())}
    return _TAINT["key"] in keys


async def _burst(
    connection: Connection, cluster: LocalCluster, arguments: argparse.Namespace
) -> AdmittedBurst:
    nobody = {"schedulerName": "nobody"}
    wanted = list(
        manifests.deployments(pods=arguments.pods, count=arguments.deployments, seed=1, spec=nobody)
    )
    before = grown.cpu_seconds(cluster)
    async with watched(connection) as lives:
        await grown.create(connection, wanted)
        count, goal = arguments.pods, f"{arguments.pods} pods exist"
        await lives.until(
            lambda: len(lives.moments("pod", "created")) >= count, goal, within=_PATIENCE
        )
        at = lives.moments("pod", "created").values()
    after = grown.cpu_seconds(cluster)
    await grown.delete_all(connection, "Deployment")
    await grown.gone(connection, "Pod")
    used = {name: spent - before.get(name, 0.0) for name, spent in after.items()}
    growths = sum(spent for name, spent in used.items() if name == "webhooks")
    return AdmittedBurst(
        per_second=count / (max(at) - min(at)),
        server=1000 * used[SERVER] / count,
        others=1000 * growths / count,
    )
