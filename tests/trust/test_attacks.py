"""A foreign Node that lies in growth's words changes nothing, whatever it says.

Each attack was seen to succeed while growth believed Nodes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    POOL_LABEL,
    PRICE_ANNOTATION,
    REPLACES_ANNOTATION,
    SCALE_DOWN_TAINT,
    TEMPLATE_ANNOTATION,
    UNREGISTERED_TAINT,
)
from reconciler.core.actions import DeleteMachine, Evict, OpenRemoval, SetNode
from reconciler.facts.fleet import fleet
from reconciler.facts.marks import reusable
from reconciler.facts.nodes import node_of
from tests.provisioning.build import settled
from tests.reconciler.build import node_class, request
from tests.removal.build import node
from tests.scheduling import build
from tests.trust.build import bought, listed, name_of, passed, read, steps, with_uid, with_words
from tests.trust.test_believing import LIES, WORDS

if TYPE_CHECKING:
    from typing import Any

    from growth.scheduling.node import Node
    from reconciler.core.world import World

VICTIMS = tuple(with_uid(node(name_of(number))) for number in range(3))
OURS = {POOL_LABEL: "default", MANAGED_BY_LABEL: "growth", NODE_REQUEST_LABEL: name_of(9)}


def pods() -> list[Any]:
    return [
        build.pod(f"web-{number}", on=each.name, requests={"cpu": "1"})
        for number, each in enumerate(VICTIMS)
    ]


def town(*foreign: Node, **pool: Any) -> World:
    """Three machines in use, and Nodes that nobody has bought."""
    records = [bought(each) for each in VICTIMS]
    mine = (settled(**pool), node_class(), *VICTIMS, *records, *pods())
    return read(*mine, *foreign, shown=listed(*VICTIMS))


def harm(seen: World) -> list[str]:
    """What one pass does to Nodes, machines and pods."""
    wrong = (SetNode, OpenRemoval, DeleteMachine, Evict)
    return [type(step).__name__ for step in steps(passed(seen)) if isinstance(step, wrong)]


def liar(**annotations: str) -> Node:
    foreign = with_uid(build.node("foreign", providerID="hcloud://666"))
    return with_words(foreign, labels=OURS, annotations=annotations)


def test_nothing_happens_to_machines_in_use() -> None:
    assert harm(town()) == []


def test_a_swap_that_a_foreign_node_tells_of_removes_nothing() -> None:
    names = [each.name for each in VICTIMS]
    words = json.dumps({"nodes": names, "of": 1, "reason": "Unhealthy"})
    seen = town(liar(**{REPLACES_ANNOTATION: words}))
    assert harm(seen) == []
    assert passed(seen).ledger.replacement.swaps == {}


def test_a_kubelet_that_registers_somebodys_provider_id_joins_as_nobody() -> None:
    coming = request(
        name_of(7), status={"phase": "Provisioning", "nodeID": VICTIMS[0].spec.provider_id}
    )
    thief = with_uid(build.node("thief", providerID=VICTIMS[0].spec.provider_id))
    seen = town(thief)
    assert node_of(coming, seen) is None
    assert harm(seen) == []
    assert passed(seen).breach is None


def test_a_foreign_node_gets_no_label_of_a_pool_and_keeps_its_taints() -> None:
    template = '{"form":1,"labels":{"old":"1"},"taints":[{"key":"q","effect":"NoExecute"}]}'
    quarantined = with_uid(
        build.node(
            "foreign",
            labels=OURS | {"old": "1"},
            providerID="hcloud://666",
            taints=[{"key": "q", "effect": "NoExecute"}],
        )
    )
    lies = with_words(quarantined, annotations={TEMPLATE_ANNOTATION: template})
    labels = {"node-restriction.kubernetes.io/secure": "yes"}
    assert harm(town(lies, labels=labels)) == []


def test_a_price_that_a_foreign_node_names_is_not_counted() -> None:
    lies = liar(**{PRICE_ANNOTATION: "-1000", BOUGHT_AT_ANNOTATION: "0001-01-01T00:00:00+14:00"})
    counted = fleet(town(lies), ())
    assert set(counted.machines) == {each.name for each in VICTIMS}
    assert sum(each.price for each in counted.of("default")) == 3_000_000


def test_a_price_that_a_kubelet_writes_on_our_machine_is_not_counted() -> None:
    lies = with_words(VICTIMS[0], annotations={PRICE_ANNOTATION: "1e999999"})
    records = [bought(each) for each in VICTIMS]
    seen = read(
        settled(), node_class(), lies, *VICTIMS[1:], *records, *pods(), shown=listed(*VICTIMS)
    )
    assert sum(each.price for each in fleet(seen, ()).of("default")) == 3_000_000


def test_no_pod_is_promised_a_place_on_a_foreign_node_that_seems_marked_or_starting() -> None:
    keys = (SCALE_DOWN_TAINT, UNREGISTERED_TAINT)
    taints = [{"key": key, "effect": "NoSchedule"} for key in keys]
    lies = with_uid(build.node("foreign", labels=OURS, taints=taints))
    assert reusable(town(lies)) == {}


@build.patient
@given(labels=LIES, annotations=LIES, taints=st.sets(st.sampled_from(WORDS)))
def test_no_lie_in_any_of_our_words_does_any_harm(
    labels: dict[str, str], annotations: dict[str, str], taints: set[str]
) -> None:
    foreign = build.node(
        "foreign",
        providerID=VICTIMS[0].spec.provider_id,
        taints=[{"key": key, "effect": "NoSchedule"} for key in sorted(taints)],
    )
    outcome = passed(town(with_words(with_uid(foreign), labels=labels, annotations=annotations)))
    assert outcome.breach is None
    wrong = (SetNode, OpenRemoval, DeleteMachine, Evict)
    assert not [step for step in steps(outcome) if isinstance(step, wrong)]


@build.patient
@given(labels=LIES, annotations=LIES)
def test_no_lie_of_a_kubelet_on_its_own_node_does_harm_to_others(
    labels: dict[str, str], annotations: dict[str, str]
) -> None:
    lies = with_words(VICTIMS[0], labels=labels, annotations=annotations)
    records = [bought(each) for each in VICTIMS]
    seen = read(
        settled(), node_class(), lies, *VICTIMS[1:], *records, *pods(), shown=listed(*VICTIMS)
    )
    outcome = passed(seen)
    assert outcome.breach is None
    assert not [step for step in steps(outcome) if isinstance(step, OpenRemoval | DeleteMachine)]
