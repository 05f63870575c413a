"""Three pools in one simulated cluster, each with another policy, and pods that name their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.disruption import Disruption
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.removal_reason import RemovalReason
from growth.api.wellknown import POOL_LABEL
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.core.measured import READ_EVERY
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story
from reconciler.simulation.trouble import SimulatedTrouble
from reconciler.simulation.workload import NAMESPACE
from tests.scaling.desired.group import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.scaling_status import ScalingStatus
    from growth.scheduling.node import Node
    from reconciler.simulation.server import StoredChange

DEMAND, BY_USE, BY_NUMBER = "waits", "by-use", "by-number"
ALL: Final = (DEMAND, BY_USE, BY_NUMBER)
CALM: Final = Story(seed=1, minutes=600.0, faults=(), workloads=0)
MINUTE: Final = 60.0
SOLD: Final = (("small", "4", "1"), ("large", "8", "1.8"))
MOST: Final = 12
SCALING: Final[dict[str, dict[str, Any]]] = {
    DEMAND: {"policy": "Demand"},
    BY_USE: {
        "policy": "Utilisation",
        "utilisation": {
            "scanInterval": "20s",
            "scaleUpCoolDownPeriod": "30s",
            "softDeleteGracePeriod": "30s",
            "hardDeleteGracePeriod": "3m",
            "maxNodes": MOST,
        },
    },
    BY_NUMBER: {
        "policy": "Desired",
        "desired": {
            "maxNodes": MOST,
            "scaleDownCooldown": "1m",
            "underutilizationDuration": "2m",
        },
    },
}
FOR_A_POLICY: Final = frozenset({RemovalReason.SURPLUS})
"""Removals that only the policy of the node's own pool may want."""
FOR_COST: Final = frozenset({RemovalReason.CONSOLIDATION})


class Three:
    """The pools that are asked for, their pods, and time."""

    def __init__(
        self, pools: Iterable[str] = ALL, *, story: Story = CALM, **disruption: Any
    ) -> None:
        self.pools = tuple(pools)
        self.measured = Measured()
        self.living = Living(story, SimulatedJoining.AT_ONCE, parts=Parts(measured=self.measured))
        self.server = self.living.server
        self.touched: list[str] = []
        """What the policy of one pool did to a node of another."""
        self.server.kind(NodeRemovalRequest.__name__).heard_by.append(self._removed)
        self.server.create("KwokNodeClass", node_class())
        for name in self.pools:
            self.server.create("NodePool", pool(name, disruption))
        self.server.create("namespaces", Namespace(Metadata(name=NAMESPACE)))
        if story.faults:
            # Nothing has to keep it: the timeline calls it.
            SimulatedTrouble(self.living, offerings=kwok_offerings(node_class()))
        self.living.lives.begin()
        self.now = 0.0
        self._owners = {name: workload(name) for name in self.pools}

    def wants(self, of: str, number: int) -> None:
        """So many pods of a pool, four on a small machine; nothing if there is no such pool."""
        if of in self._owners:
            self.living.replicas.want(self._owners[of], number)

    def scaled(self, number: int) -> None:
        """A person sets the number of nodes, as kubectl scale does."""

        def changed(found: NodePool) -> NodePool:
            desired = found.spec.scaling.desired
            assert desired is not None
            wanted = desired.model_copy(update={"desired_nodes": number})
            scaling = found.spec.scaling.model_copy(update={"desired": wanted})
            spec = found.spec.model_copy(update={"scaling": scaling})
            return found.model_copy(update={"spec": spec})

        if BY_NUMBER in self.pools:
            self.server.change("NodePool", Key("", BY_NUMBER), changed)

    def loses_node(self, name: str) -> None:
        """A person deletes a Node whose machine keeps running."""
        self.living.cloud.forgotten.add(name)
        self.server.delete("nodes", Key("", name))

    def lasts_for_good(self, of: str) -> None:
        """A person lets the nodes of a pool become as old as they like."""

        def changed(found: NodePool) -> NodePool:
            spec = found.spec.model_copy(update={"disruption": Disruption()})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", of), changed)

    def passes(self, seconds: float) -> None:
        """So much time; use is measured every 15 seconds."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + READ_EVERY, end)
            self.living.timeline.run(self.now)
            nodes = {node.name: node for node in self.server.kind("nodes").objects.values()}
            pools = [each for name in self.pools if (each := self._pool(name)) is not None]
            self.measured.read(nodes, pools, self.now)
        assert self.living.auditor.found is None, self.living.auditor.found
        assert self.touched == []

    def nodes(self, of: str) -> list[Node]:
        """The nodes of a pool, the oldest first."""
        found = self.server.kind("nodes").objects.values()
        # By their names: in a storm, a kubelet may write any pool on its Node.
        ours = [node for node in found if node.name.startswith(f"{of}-")]
        return sorted(ours, key=lambda node: (node.metadata.creation_timestamp or "", node.name))

    def names(self, of: str) -> list[str]:
        return [node.name for node in self.nodes(of)]

    def waiting(self, of: str = "") -> int:
        """Pods without a node."""
        pods = self.server.kind("pods").objects.values()
        return sum(not pod.spec.node_name and pod.metadata.name.startswith(of) for pod in pods)

    def status(self, of: str) -> ScalingStatus:
        found: NodePool = self.server.kind("NodePool").objects[Key("", of)]
        assert found.status.scaling is not None
        return found.status.scaling

    def holds(self, of: str) -> set[str]:
        return {each.reason for each in self.status(of).holds}

    def _pool(self, name: str) -> NodePool | None:
        found: NodePool | None = self.server.kind("NodePool").named(name)
        return found

    def _removed(self, event: StoredChange) -> None:
        """A removal names the pool of its node, for a reason that this pool's policy may have."""
        removal: NodeRemovalRequest | None = event.new
        if removal is None or event.old is not None:
            return
        pool, reason = removal.spec.pool, removal.spec.reason
        if not removal.spec.node_name.startswith(f"{pool}-"):
            self.touched.append(f"{removal.name} goes for {pool}")
        if (reason in FOR_A_POLICY and pool == DEMAND) or (reason in FOR_COST and pool != DEMAND):
            self.touched.append(f"{removal.name} of {pool} goes for {reason}")


def node_class() -> KwokNodeClass:
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": "16Gi", "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, cpu, price in SOLD
    ]
    return KwokNodeClass.model_validate({"metadata": {"name": "default"}, "spec": {"types": types}})


def pool(name: str, disruption: dict[str, Any]) -> NodePool:
    spec = {
        "serverTypes": [{"name": sold, "max": MOST} for sold, _, _ in SOLD],
        "scaling": SCALING[name],
        "scaleDown": {"idleAfter": "20s"},
        "disruption": disruption,
    }
    return NodePool.model_validate({"metadata": {"name": name}, "spec": spec})


def workload(pool: str) -> SimulatedWorkload:
    """Pods of a pool, with its name."""
    document = {
        "metadata": {"labels": {"app": pool}},
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "900m"}}}],
            "nodeSelector": {POOL_LABEL: pool},
        },
        "status": {"phase": "Pending"},
    }
    template = msgspec.convert(document, Pod)
    return SimulatedWorkload(
        name=pool, uid=f"uid-{pool}", namespace=NAMESPACE, template=template, pods={}
    )
