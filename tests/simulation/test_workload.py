"""What arrives in a simulated cluster goes again, so that long runs stay as fast as short ones."""

from __future__ import annotations

from growth.kube.cache.resource import Key
from reconciler.simulation.catalogue import node_class, pools
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.kubelets import COMPLETES_AFTER_ANNOTATION
from reconciler.simulation.living import Living
from reconciler.simulation.story import Story
from reconciler.simulation.workload import GIVEN_UP_AFTER, Workloads
from tests.scheduling import build

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)


def test_only_a_pod_that_no_machine_could_hold_is_given_up() -> None:
    # Given a cluster in which growth doesn't run, so that no pod gets a node
    living = Living(CALM, SimulatedJoining.AT_ONCE)
    living.server.create("KwokNodeClass", node_class())
    for pool in pools(Chance(1, "pools")):
        living.server.create("NodePool", pool)
    Workloads(living)

    # When a job has a pod that fits on a machine of the catalogue, and one that fits on none
    ends = {COMPLETES_AFTER_ANNOTATION: "1m"}
    for name, cpu in (("served", "1"), ("hopeless", "64")):
        metadata = {"namespace": "work", "annotations": ends}
        pod = build.pod(name, requests={"cpu": cpu}, metadata=metadata, status={"phase": "Pending"})
        living.server.create("pods", pod)
    living.timeline.run(GIVEN_UP_AFTER - 1.0)
    assert len(living.server.kind("pods").objects) == 2

    # Then in the end only the former still waits
    living.timeline.run(GIVEN_UP_AFTER + 60.0)
    assert list(living.server.kind("pods").objects) == [Key("work", "served")]
