"""Whatever goes wrong, hardly more machines are bought than where nothing does.

Pods come in waves, and stay, so that nothing that is bought is ever idle by right. Each kind of
fault by itself, for each seed, beside the same seed without faults.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import pytest

from growth.api.kwoknodeclass import BootDelay, KwokNodeClass
from growth.api.nodepool import NodePool
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.simulation import catalogue
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.faults import BY_PEOPLE, SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story
from reconciler.simulation.trouble import SimulatedTrouble

if TYPE_CHECKING:
    from reconciler.simulation.server import StoredChange

SHAPES: Final = (("500m", "1Gi"), ("1500m", "2Gi"), ("2", "6Gi"), ("3", "4Gi"), ("900m", "7Gi"))
ALIKE: Final = tuple(
    {
        "name": f"type-{number}",
        "resources": {"cpu": "8", "memory": "16Gi", "pods": "110"},
        "offers": [
            {"location": place, "price": f"0.03{number}"} for place in ("here", "there", "yonder")
        ],
    }
    for number in range(3)
)
"""Where offers are refused others have the same size: two small ones for one are no mistake."""
WAVES: Final = (20.0, 200.0)
"""Seconds at which each workload wants more."""
MINUTES: Final = 6.0
QUIET: Final = 700.0
NAMESPACE: Final = "work"
SPOIL: Final = frozenset(
    {
        SimulatedFault.NEVER_READY,
        SimulatedFault.DIES_JOINING,
        SimulatedFault.FAILS_JOINING,
        SimulatedFault.MACHINE_DIES,
    }
)
"""Faults by which machines are lost that have to be bought again."""
REFUSE: Final = SPOIL | {
    SimulatedFault.STOCK_OUT,
    SimulatedFault.LOCATION_DOWN,
    SimulatedFault.QUOTA,
}
"""Faults after which offers aren't bought for a while."""
BLIND: Final = frozenset({SimulatedFault.EVENT_LOST, SimulatedFault.OUTAGE})
"""Faults that hide pods, so that those of one wave are planned in parts."""
MISTAKES: Final = [fault for fault in SimulatedFault if fault not in BY_PEOPLE]


class End(NamedTuple):
    """What a telling comes to."""

    bought: int
    lost: int
    """Machines that ended by themselves, or never served."""
    waiting: int
    """Pods without a node."""


def told(seed: int, *faults: SimulatedFault, alike: bool) -> End:
    story = Story(seed=seed, minutes=MINUTES, faults=faults, workloads=0)
    chance = Chance(seed, "burst")
    living = Living(story, chance.one_of(tuple(SimulatedJoining)))
    node_class, pool = _sold(catalogue.boot_delay(chance), alike=alike)
    living.server.create("KwokNodeClass", node_class)
    living.server.create("NodePool", pool)
    living.server.create("namespaces", Namespace(Metadata(name=NAMESPACE)))
    for number, shape in enumerate(SHAPES):
        owner, wanted = _owner(number, shape), 0
        for at in WAVES:
            wanted += chance.whole(2, 10)
            living.timeline.at(at, living.replicas.want, owner, wanted)
    served: set[str] = set()
    living.server.kind("nodes").heard_by.append(lambda event: _note(event, served))
    SimulatedTrouble(living, offerings=kwok_offerings(node_class))
    living.lives.begin()
    living.timeline.run(story.noisy + QUIET)
    assert living.auditor.found is None, living.auditor.found
    pods = living.server.kind("pods").objects.values()
    cloud = living.cloud
    return End(
        bought=cloud.bought,
        lost=cloud.bought - len(served - cloud.died),
        waiting=sum(not pod.spec.node_name for pod in pods),
    )


def _sold(boots: BootDelay, *, alike: bool) -> tuple[KwokNodeClass, NodePool]:
    alone = {"metadata": {"name": "default"}, "spec": {"types": ALIKE, "bootDelay": boots}}
    node_class = KwokNodeClass.model_validate(alone) if alike else catalogue.node_class(boots)
    spec = {
        "serverTypes": [{"name": each.name, "max": 80} for each in node_class.spec.types],
        "disruption": {"consolidation": "Never"},
    }
    return node_class, NodePool.model_validate({"metadata": {"name": "default"}, "spec": spec})


def _note(event: StoredChange, served: set[str]) -> None:
    if event.new is not None and event.new.is_ready:
        served.add(event.new.name)


def _owner(number: int, shape: tuple[str, str]) -> SimulatedWorkload:
    cpu, memory = shape
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    document: dict[str, Any] = {
        "metadata": {},
        "spec": {"containers": [container]},
        "status": {"phase": "Pending"},
    }
    template = msgspec.convert(document, Pod)
    return SimulatedWorkload(
        name=f"w{number}", uid=f"owner-{number}", namespace=NAMESPACE, template=template, pods={}
    )


@cache
def undisturbed(seed: int, *, alike: bool) -> End:
    return told(seed, alike=alike)


def assert_buys_little_more(fault: SimulatedFault, seed: int) -> None:
    alike = fault in REFUSE
    plan, end = undisturbed(seed, alike=alike), told(seed, fault, alike=alike)
    bought = end.bought - end.lost if fault in SPOIL else end.bought
    sys.stdout.write(f"{fault}, seed {seed}: {bought} bought, {plan.bought} without it\n")
    assert end.waiting == plan.waiting == 0
    share = 0.2 if fault in BLIND else 0.1
    assert bought <= plan.bought + max(1.0, share * plan.bought)


@pytest.mark.parametrize("fault", MISTAKES)
def test_a_fault_buys_hardly_more_than_the_plan_without_it(fault: SimulatedFault) -> None:
    assert_buys_little_more(fault, seed=6)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(7, 17))
@pytest.mark.parametrize("fault", MISTAKES)
def test_no_fault_of_any_seed_buys_much_more_than_the_plan_without_it(
    fault: SimulatedFault, seed: int
) -> None:
    assert_buys_little_more(fault, seed)
