"""Nodes whose machine is gone need two witnesses before they are freed."""

from __future__ import annotations

from typing import Any

import pytest

from growth.api.wellknown import CORDONED_ANNOTATION
from reconciler.core.actions import Delete, EmitEvent, SetNode
from tests.reconciler.build import request
from tests.removal.build import NAME, kinds, machine, node, removal, steps, world
from tests.scheduling import build

OURS = {CORDONED_ANNOTATION: "machine-gone"}


def silent(**spec: Any) -> Any:
    return node(ready=False, **spec)


def cordoned(annotations: dict[str, str]) -> Any:
    return silent(unschedulable=True, annotations=annotations)


def test_a_silent_node_whose_machine_is_gone_is_cordoned_with_our_mark_and_then_freed() -> None:
    cordon, said = steps(world(silent()))
    assert isinstance(cordon, SetNode)
    assert (cordon.unschedulable, dict(cordon.annotations)) == (True, OURS)
    assert isinstance(said, EmitEvent)
    assert said.event.reason == "MachineGone"
    (end,) = (step for step in steps(world(cordoned(OURS))) if isinstance(step, Delete))
    assert (end.kind, end.version.name) == ("nodes", NAME)


def test_pods_do_not_keep_a_node_that_is_no_more() -> None:
    assert kinds(world(cordoned(OURS), build.pod("web-0", on=NAME))) == ["Delete nodes"]


STAYS: dict[str, Any] = {
    "its kubelet reports": world(node()),
    "the last listing shows it": world(silent(), shown=(machine(),), before=()),
    "the listing before showed it": world(silent(), before=(machine(),)),
    "its machine has another name": world(
        silent(), shown=(machine("renamed", machine_id=f"kwok://{NAME}"),)
    ),
    "a listing is older than the node": world(silent(made_at=89.0)),
    "its request waits for it": world(silent(), request(status={"phase": "Provisioning"})),
    "a person has cordoned it": world(cordoned({})),
    "it belongs to nobody here": world(build.node("theirs")),
}


@pytest.mark.parametrize("given", STAYS.values(), ids=STAYS.keys())
def test_a_node_stays_while(given: Any) -> None:
    assert "Delete nodes" not in kinds(given)
    cordons = [step for step in steps(given) if isinstance(step, SetNode) and step.unschedulable]
    assert not cordons


def test_a_machine_that_dies_after_its_removal_has_failed_leaves_no_node_behind() -> None:
    failed = removal(status={"phase": "RemovalFailed"}, held=False)
    cordon, said = steps(world(silent(), failed))
    assert isinstance(cordon, SetNode)
    assert isinstance(said, EmitEvent)
    assert kinds(world(cordoned(OURS), failed)) == ["Delete nodes"]
