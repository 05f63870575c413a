"""How long the scaling policies of many pools take in one pass.

Every node has pods and nothing is to be done, as in a calm cluster. At first, a new leader also
adds up what all pods request; every other rule finds the sums then. In a run, all pools by
utilisation are due; in other passes, their last decisions stand. Pools that get no turn in a pass
get one in the next, so both the longest pass and all of them together are told.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from benchmarks.world import NOW, Known, recorded_node
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.scaling import ScalingPolicyName
from growth.api.wellknown import POOL_LABEL
from growth.instant import Instant
from growth.kube.cache.garbage import keep_for_good
from growth.scheduling.pod import Pod
from reconciler import scaling
from reconciler.core.measured import MeasuredUse, Measurements, UsedShare, UseSample
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.indexes import Views

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from reconciler.core.world import World

GOAL: Final = 100.0
"""Milliseconds, for 200 pools of 50 nodes."""
SAMPLES: Final = 20
PASSES: Final = (("at first", 0.0), ("a second later", 1.0), ("next run", 62.0))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--pools", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=50, help="of each pool")
    parser.add_argument("--pods", type=int, default=5, help="of each node")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts")


def run(arguments: argparse.Namespace) -> None:
    """Measure each policy."""
    sizes = f"{arguments.pools} pools of {arguments.nodes} nodes with {arguments.pods} pods each"
    print(f"{sizes}; goal {GOAL:.0f} ms of CPU time for a pass")
    for policy in (ScalingPolicyName.UTILISATION, ScalingPolicyName.DESIRED):
        rounds = [[*_passes(_world(arguments, policy))] for _ in range(arguments.rounds)]
        told = (
            _told(title, taken)
            for (title, _), taken in zip(PASSES, zip(*rounds, strict=True), strict=True)
        )
        print(f"  {policy:12} {', '.join(told)}")


def _told(title: str, rounds: Sequence[Sequence[float]]) -> str:
    """The longest pass, and all passes until every pool has had its turn."""
    longest = min(max(taken) for taken in rounds)
    together = min(sum(taken) for taken in rounds)
    count = min(map(len, rounds))
    more = f" ({count} passes, {together:.0f} ms together)" if count > 1 else ""
    return f"{title} {longest:.0f} ms{more}"


def _passes(world: World) -> Iterator[Sequence[float]]:
    """Milliseconds of the passes at each of these moments."""
    for _, later in PASSES:
        now = Instant(NOW.monotonic + later, NOW.wall + timedelta(seconds=later))
        taken: list[float] = []
        wake_at = now.monotonic
        while wake_at <= now.monotonic:
            began = time.process_time()
            decision = scaling.decide(world, now)
            taken.append((time.process_time() - began) * 1000)
            wake_at = decision.wake_at
            world = world.remembering(replace(world.ledger, scaling=decision.section))
        yield taken


def _world(arguments: argparse.Namespace, policy: ScalingPolicyName) -> World:
    known = Known(Views(), KnownDemand(lambda: NOW))
    names = [f"pool-{number}" for number in range(arguments.pools)]
    nodes = [(name, f"{name}-{number}") for name in names for number in range(arguments.nodes)]
    known.feed("NodePool", [_pool(name, policy, nodes=arguments.nodes) for name in names])
    records = [_record(pool, name) for pool, name in nodes]
    known.feed(NodeRecord.__name__, records)
    known.feed("nodes", map(recorded_node, records))
    known.feed(
        "pods", [_pod(pool, name, each) for pool, name in nodes for each in range(arguments.pods)]
    )
    use = Measurements(nodes={name: _used() for _, name in nodes}, problem="")
    world = msgspec.structs.replace(known.world(), use=use)
    keep_for_good()  # As a process does after its first lists.
    return world


def _pool(name: str, policy: ScalingPolicyName, *, nodes: int) -> NodePool:
    """One that has the nodes that it wants."""
    fields = {
        ScalingPolicyName.UTILISATION: {"utilisation": {"minNodes": 1, "maxNodes": 2 * nodes}},
        ScalingPolicyName.DESIRED: {"desired": {"desiredNodes": nodes, "maxNodes": 2 * nodes}},
    }
    return NodePool.model_validate(
        {
            "metadata": {"name": name, "uid": name},
            "spec": {
                "serverTypes": [{"name": "large", "max": 2 * nodes}],
                "scaling": {"policy": policy, **fields[policy]},
            },
        }
    )


def _record(pool: str, name: str) -> NodeRecord:
    return NodeRecord.model_validate(
        {
            "metadata": {"name": name, "uid": f"record-{name}"},
            "spec": {
                "pool": pool,
                "nodeClassRef": {"kind": "KwokNodeClass", "name": "default"},
                "serverType": "large",
                "location": "here",
                "price": "0.1",
                "nodeID": f"kwok://{name}",
                "requestUID": f"request-{name}",
                "boughtAt": NOW.wall,
            },
            "status": {"node": {"name": name, "uid": f"node-{name}"}},
        }
    )


def _pod(pool: str, node: str, number: int) -> Pod:
    """Five of them request half of a node, which is between the thresholds."""
    resources = {"requests": {"cpu": "800m", "memory": "1Gi"}}
    document = {
        "metadata": {"name": f"{node}-{number}", "namespace": "work", "uid": f"{node}-{number}"},
        "spec": {
            "nodeName": node,
            "nodeSelector": {POOL_LABEL: pool},
            "containers": [{"name": "main", "resources": resources}],
        },
    }
    return msgspec.convert(document, Pod)


def _used() -> MeasuredUse:
    """Used well for as long as is remembered."""
    share = UsedShare(80, 100)
    newest = NOW.wall.timestamp()
    return MeasuredUse(
        samples=tuple(
            UseSample(at=newest - 60 * ago, cpu=share, memory=share)
            for ago in range(SAMPLES, -1, -1)
        )
    )
