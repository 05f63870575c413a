"""A pool of the policy Utilisation in the whole loop, in virtual time: the rules E1 to E13.

The auditors of the simulated world look on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool, PoolMode
from growth.api.scaling import Scaling
from growth.api.scaling_utilisation import UtilisationScaling
from growth.api.wellknown import (
    DO_NOT_DISRUPT_ANNOTATION,
    FORCE_SCALE_DOWN_TAINT,
    POOL_LABEL,
    SCALE_DOWN_TAINT,
)
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from growth.scheduling.resources import total
from growth.scheduling.taints import Taint
from reconciler.facts.ownership import pool_of_node
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.scaling_status import ScalingStatus
    from growth.scheduling.node import Node

CALM = Story(seed=1, minutes=120.0, faults=(), workloads=0)
SOON = 60.0
ONE_TYPE = [("small", "4", "1")]
TYPES = [("small", "4", "1"), ("large", "16", "3")]


class Utilised:
    """A pool that is scaled by utilisation, and pods that name it."""

    def __init__(
        self, types: list[tuple[str, str, str]] | None = None, story: Story = CALM, **fields: Any
    ) -> None:
        self.living = Living(story, SimulatedJoining.AT_ONCE)
        self.server = self.living.server
        sold = types or ONE_TYPE
        self.server.create("KwokNodeClass", node_class(sold))
        self.server.create("NodePool", pool(sold, fields))
        self.server.create("namespaces", Namespace(Metadata(name="shop")))
        self.living.lives.begin()
        self.workloads: dict[str, SimulatedWorkload] = {}
        self.now = 0.0

    def wants(self, number: int, *, cpu: str = "1", of: str = "web") -> None:
        """So many pods of the pool."""
        owner = self.workloads.setdefault(of, workload(of, cpu))
        self.living.replicas.want(owner, number)

    def has_settings(self, **fields: Any) -> None:
        """The pool with other settings."""

        def changed(found: NodePool) -> NodePool:
            before = found.spec.scaling.utilisation
            assert before is not None
            names = {
                UtilisationScaling.field_names()[name]: value for name, value in fields.items()
            }
            scaling = found.spec.scaling.model_copy(
                update={"utilisation": before.model_copy(update=names)}
            )
            spec = found.spec.model_copy(update={"scaling": scaling})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", "default"), changed)

    def only_observes(self) -> None:
        """The pool without deeds."""

        def changed(found: NodePool) -> NodePool:
            spec = found.spec.model_copy(update={"mode": PoolMode.OBSERVE})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", "default"), changed)

    def follows_demand(self) -> None:
        """The pool with another policy."""

        def changed(found: NodePool) -> NodePool:
            spec = found.spec.model_copy(update={"scaling": Scaling()})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", "default"), changed)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.living.timeline.run(self.now)
        assert self.living.auditor.found is None

    def nodes(self) -> list[Node]:
        found = self.server.kind("nodes").objects.values()
        return [node for node in found if pool_of_node(node) == "default"]

    def tainted(self) -> list[str]:
        return [node.name for node in self.nodes() if SCALE_DOWN_TAINT in node.taint_keys]

    def waiting(self) -> int:
        return sum(not pod.spec.node_name for pod in self.server.kind("pods").objects.values())

    def status(self) -> ScalingStatus:
        found: NodePool = self.server.kind("NodePool").objects[Key("", "default")]
        assert found.status.scaling is not None
        return found.status.scaling

    def seen(self) -> dict[str, str]:
        return {each.name: each.value for each in self.status().seen}

    def changes(self, node: Node, change: Callable[[Node], Node]) -> None:
        self.server.change("nodes", Key("", node.name), change)


def node_class(types: list[tuple[str, str, str]]) -> KwokNodeClass:
    sold = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": "16Gi", "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, cpu, price in types
    ]
    return KwokNodeClass.model_validate({"metadata": {"name": "default"}, "spec": {"types": sold}})


def pool(types: list[tuple[str, str, str]], fields: dict[str, Any]) -> NodePool:
    rules = {
        "serverTypes": [{"name": name, "max": 20} for name, _, _ in types],
        "scaling": {"policy": "Utilisation", "utilisation": {"scanInterval": "10s"} | fields},
    }
    return NodePool.model_validate({"metadata": {"name": "default"}, "spec": rules})


def workload(name: str, cpu: str) -> SimulatedWorkload:
    document = {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
            "nodeSelector": {POOL_LABEL: "default"},
        },
        "status": {"phase": "Pending"},
    }
    template = msgspec.convert(document, Pod)
    return SimulatedWorkload(
        name=name, uid=f"uid-{name}", namespace="shop", template=template, pods={}
    )


def test_from_zero_so_many_are_bought_that_the_requests_are_at_the_threshold() -> None:
    told = Utilised()
    told.wants(7)
    told.passes(SOON)
    # 7 CPU at 70 % are 10 CPU, which three nodes of 4 have.
    assert len(told.nodes()) == 3
    assert told.waiting() == 0


def test_the_lock_is_held_for_its_period_and_more_are_bought_only_then() -> None:
    told = Utilised(scaleUpCoolDownPeriod="2m")
    told.wants(7)
    told.passes(SOON)
    told.wants(14)
    told.passes(50)
    assert len(told.nodes()) == 3
    assert [hold.reason for hold in told.status().holds] == ["Lock"]
    told.passes(SOON)
    assert len(told.nodes()) == 5
    assert told.waiting() == 0


def test_when_pods_go_the_oldest_nodes_are_tainted_and_go_after_their_grace() -> None:
    told = Utilised(scaleUpCoolDownPeriod="0s", softDeleteGracePeriod="1m")
    told.wants(14)
    told.passes(2 * SOON)
    assert len(told.nodes()) == 5
    told.wants(3)
    told.passes(15)
    assert told.tainted()
    assert len(told.nodes()) == 5
    told.passes(3 * SOON)
    # 3 CPU of 8 are 37 %; with the rate of 2, the last step is taken from more than 40 %.
    assert len(told.nodes()) < 5
    assert told.waiting() == 0


def test_a_tainted_node_is_used_again_before_one_is_bought() -> None:
    told = Utilised(
        scaleUpCoolDownPeriod="0s", softDeleteGracePeriod="30m", hardDeleteGracePeriod="1h"
    )
    told.wants(14)
    told.passes(2 * SOON)
    told.wants(3)
    told.passes(SOON)
    names = {node.name for node in told.nodes()}
    assert told.tainted()
    told.wants(14)
    told.passes(SOON)
    assert told.tainted() == []
    assert {node.name for node in told.nodes()} == names
    assert told.waiting() == 0


def test_pods_are_evicted_only_after_the_hard_grace() -> None:
    told = Utilised(
        minNodes=3,
        maxNodes=20,
        scaleUpThresholdPercent=90,
        taintUpperCapacityThresholdPercent=60,
        slowNodeRemovalRate=1,
        scaleUpCoolDownPeriod="0s",
        softDeleteGracePeriod="30s",
        hardDeleteGracePeriod="5m",
    )
    # One on each node: 55 % with three of them, 82 % with two.
    told.wants(3, cpu="2200m")
    told.passes(SOON)
    told.has_settings(minNodes=2)
    told.passes(SOON)
    (tainted,) = told.tainted()
    told.passes(3 * SOON)
    assert told.waiting() == 0
    told.passes(3 * SOON)
    assert tainted not in {node.name for node in told.nodes()}
    assert (len(told.nodes()), told.waiting()) == (2, 1)


def test_many_types_are_bought_at_the_least_cost() -> None:
    told = Utilised(TYPES)
    told.wants(14)
    told.passes(SOON)
    # 20 CPU: a large and a small one for 4, instead of five small ones for 5.
    types = sorted(node.labels["growth.dev/instance-type"] for node in told.nodes())
    assert types == ["large", "small"]
    room = total(node.allocatable for node in told.nodes())
    assert room["cpu"] == 20_000


def test_the_minimum_is_kept_without_a_pod() -> None:
    told = Utilised(minNodes=2, maxNodes=5)
    told.passes(SOON)
    assert len(told.nodes()) == 2
    told.passes(10 * SOON)
    assert len(told.nodes()) == 2
    assert told.tainted() == []


def test_a_cordoned_node_is_out_of_everything() -> None:
    told = Utilised(scaleUpCoolDownPeriod="0s", minNodes=2, maxNodes=5)
    told.passes(SOON)
    first = told.nodes()[0]
    told.changes(first, cordoned)
    told.passes(SOON)
    assert told.seen()["cordoned"] == "1"
    assert len(told.nodes()) == 3
    told.passes(10 * SOON)
    assert first.name in {node.name for node in told.nodes()}
    assert told.tainted() == []


def cordoned(node: Node) -> Node:
    spec = msgspec.structs.replace(node.spec, unschedulable=True)
    return msgspec.structs.replace(node, spec=spec)


def test_a_protected_node_is_tainted_and_never_goes() -> None:
    told = Utilised(minNodes=2, maxNodes=5, scaleUpCoolDownPeriod="0s")
    told.passes(SOON)
    for node in told.nodes():
        told.changes(node, protected)
    told.has_settings(minNodes=0)
    told.passes(10 * SOON)
    assert len(told.tainted()) == 2


def protected(node: Node) -> Node:
    annotations = {**node.metadata.annotations, DO_NOT_DISRUPT_ANNOTATION: "true"}
    metadata = msgspec.structs.replace(node.metadata, annotations=annotations)
    return msgspec.structs.replace(node, metadata=metadata)


def test_a_node_that_people_want_gone_goes_as_soon_as_it_is_empty() -> None:
    told = Utilised(
        minNodes=1,
        maxNodes=5,
        scaleUpCoolDownPeriod="0s",
        softDeleteGracePeriod="1h",
        hardDeleteGracePeriod="2h",
    )
    told.passes(SOON)
    (first,) = told.nodes()
    told.changes(first, wanted_gone)
    told.passes(3 * SOON)
    assert first.name not in {node.name for node in told.nodes()}
    assert len(told.nodes()) == 1


def wanted_gone(node: Node) -> Node:
    taints = (*node.spec.taints, Taint(FORCE_SCALE_DOWN_TAINT, "NoSchedule"))
    spec = msgspec.structs.replace(node.spec, taints=taints)
    return msgspec.structs.replace(node, spec=spec)


def test_marks_of_escalator_are_read_and_removed_where_the_setting_says_so() -> None:
    told = Utilised(minNodes=1, maxNodes=5, scaleUpCoolDownPeriod="0s", escalatorMarks="Read")
    told.passes(SOON)
    (first,) = told.nodes()
    told.changes(first, tainted_by_escalator)
    told.passes(SOON)
    # Below its minimum, the pool uses the node again.
    (node,) = told.nodes()
    assert node.name == first.name
    assert "atlassian.com/escalator" not in node.taint_keys


def tainted_by_escalator(node: Node) -> Node:
    taints = (*node.spec.taints, Taint("atlassian.com/escalator", "NoSchedule", "1700000000"))
    spec = msgspec.structs.replace(node.spec, taints=taints)
    return msgspec.structs.replace(node, spec=spec)


def test_after_a_restart_the_lock_is_still_held() -> None:
    told = Utilised(scaleUpCoolDownPeriod="5m")
    told.wants(7)
    told.passes(SOON)
    told.living.lives.interrupt(down=5.0)
    told.wants(14)
    told.passes(3 * SOON)
    assert len(told.nodes()) == 3
    told.passes(2 * SOON)
    assert len(told.nodes()) == 5


def test_after_a_restart_tainted_nodes_keep_their_taint_and_no_more_are_tainted() -> None:
    told = Utilised(
        scanInterval="5m",
        scaleUpCoolDownPeriod="0s",
        softDeleteGracePeriod="1h",
        hardDeleteGracePeriod="2h",
        slowNodeRemovalRate=1,
        fastNodeRemovalRate=1,
    )
    told.wants(14)
    told.passes(2 * SOON)
    told.wants(0)
    told.passes(5 * SOON)
    tainted = told.tainted()
    assert len(tainted) == 1
    told.living.lives.interrupt(down=5.0)
    told.passes(SOON)
    assert told.tainted() == tainted


def test_a_pod_that_fits_on_no_node_gets_another_one_if_that_is_asked_for() -> None:
    told = Utilised(scaleOnStarve=True, minNodes=1, maxNodes=5, scaleUpCoolDownPeriod="0s")
    told.wants(1, cpu="1500m", of="small")
    told.passes(SOON)
    assert len(told.nodes()) == 1
    told.wants(1, cpu="2600m", of="large")
    told.has_settings(scaleUpThresholdPercent=150)
    told.passes(SOON)
    assert (len(told.nodes()), told.waiting()) == (2, 0)


def test_an_old_node_is_followed_by_a_new_one_and_goes() -> None:
    told = Utilised(minNodes=1, maxNodes=3, maxNodeAge="10m", scaleUpCoolDownPeriod="0s")
    told.passes(SOON)
    (first,) = told.nodes()
    told.passes(14 * SOON)
    (second,) = told.nodes()
    assert second.name != first.name


def test_a_pool_that_only_observes_says_what_it_would_do() -> None:
    told = Utilised(scaleUpCoolDownPeriod="0s")
    told.only_observes()
    told.wants(7)
    told.passes(SOON)
    assert told.nodes() == []
    assert told.status().reason == "AboveScaleUpThreshold"
    assert "3 nodes are bought" in told.status().message


def test_another_policy_takes_over_without_anything_sudden() -> None:
    told = Utilised(minNodes=3, maxNodes=5, scaleUpCoolDownPeriod="0s")
    told.wants(3, cpu="2200m")
    told.passes(SOON)
    names = {node.name for node in told.nodes()}
    told.follows_demand()
    told.passes(5 * SOON)
    assert {node.name for node in told.nodes()} == names
    assert told.tainted() == []


def test_no_more_than_the_maximum_is_bought() -> None:
    told = Utilised(maxNodes=3)
    told.wants(30)
    told.passes(5 * SOON)
    assert len(told.nodes()) == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_in_a_storm_of_faults_no_auditor_finds_anything(seed: int) -> None:
    everything = Story(seed=seed, minutes=6.0, faults=tuple(SimulatedFault), workloads=0)
    told = Utilised(
        TYPES,
        story=everything,
        minNodes=1,
        maxNodes=15,
        scaleUpCoolDownPeriod="30s",
        softDeleteGracePeriod="30s",
        hardDeleteGracePeriod="2m",
    )
    # Enough for several machines, then for one, then for all that the pool may have.
    for number in (12, 30, 2, 0, 25, 7):
        told.wants(number)
        told.passes(SOON)
