"""A machine that was accepted: it joins and serves, or it is given up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.noderequest import UnmetScope
from growth.scheduling.csi import CSIDriver, CSIDriverSpec, CSINode, CSINodeSpec, NodeDriver
from growth.scheduling.metadata import Metadata
from growth.scheduling.taints import Taint
from reconciler.core.actions import machine as subject
from reconciler.providers.port import MachineState
from tests.provisioning.build import NAME, UNREGISTERED, Life, machine, made_at, node, settled
from tests.reconciler.build import START

if TYPE_CHECKING:
    from growth.scheduling.node import Node

WAIT = {"readinessWait": "60s"}


def coming(**pool: Any) -> Life:
    """A machine that was accepted at the first moment and is listed."""
    life = Life(provisioning(), settled(**(WAIT | pool)))
    life.machines[NAME] = machine(state=MachineState.CREATING)
    return life


def provisioning(**fields: Any) -> Any:
    accepted = START + timedelta(seconds=100)
    status = {
        "phase": "Provisioning",
        "nodeID": "kwok://default-1",
        "acceptedAt": accepted,
        "lastTransitionTime": accepted,
    }
    return made_at(99, status=status | fields)


def joined(life: Life, name: str = NAME) -> Node:
    found: Node = life.get("Node", name)
    return found


def keys(found: Node) -> list[str]:
    return [taint.key for taint in found.spec.taints]


def test_a_node_that_is_not_ready_keeps_its_start_up_taint_and_gets_its_labels() -> None:
    life = coming(labels={"team": "a"})
    life.put(node(ready=False))
    life.soon()
    assert keys(joined(life)) == ["growth.dev/unregistered"]
    assert joined(life).labels["growth.dev/pool"] == "default"
    assert joined(life).labels["team"] == "a"
    assert life.phase == "Provisioning"


def test_a_node_that_serves_makes_its_request_ready() -> None:
    life = coming()
    life.put(node(taints=[UNREGISTERED, {"key": "only", "effect": "NoSchedule"}]))
    life.soon()
    status = life.get("NodeRequest").status
    assert keys(joined(life)) == ["only"]
    assert (life.phase, status.node_name) == ("Ready", NAME)
    assert [event.name for event in status.events] == ["nodeProvisioned", "nodeLabelled"]


def test_one_write_makes_a_node_of_ours_and_lets_it_serve() -> None:
    life = coming()
    life.put(node())
    life.soon()
    assert life.writes.count("SetNode") == 1
    labels, annotations = joined(life).labels, joined(life).metadata.annotations
    assert labels["growth.dev/node-request"] == NAME
    assert labels["growth.dev/instance-type"] == "small"
    assert labels["topology.kubernetes.io/zone"] == "here"
    assert annotations["growth.dev/server-id"] == "kwok://default-1"
    assert annotations["growth.dev/price"] == "1"
    assert annotations["growth.dev/bought-at"] == "2026-01-01T00:01:40Z"


@pytest.mark.parametrize("name", ["growth.dev/plan", "growth.dev/template"])
def test_what_a_request_tells_of_its_machine_is_written_on_the_node(name: str) -> None:
    made = provisioning()
    metadata = made.metadata.model_copy(update={"annotations": {name: "{}"}})
    life = coming()
    life.put(made.model_copy(update={"metadata": metadata}), node())
    life.soon()
    assert joined(life).metadata.annotations[name] == "{}"


def test_a_node_under_another_name_is_not_the_machine_whatever_it_says() -> None:
    life = coming()
    life.put(node("ip-10-0-0-7", providerID="kwok://default-1"))
    life.until(200)
    assert "growth.dev/pool" not in joined(life, "ip-10-0-0-7").labels
    assert life.phase != "Ready"


@pytest.mark.parametrize("written", ["", "hcloud://", "42", "k3s://42", "hrobot://42", "a://b/42"])
def test_a_node_with_the_same_id_at_another_cloud_is_not_its_node(written: str) -> None:
    life, made = coming(), provisioning(nodeID="42")
    spec = made.spec.model_copy(update={"target_offering": "hetzner-small"})
    life.put(made.model_copy(update={"spec": spec}), node("ip-10-0-0-7", providerID=written))
    life.soon()
    assert life.get("NodeRequest").status.node_name is None


def test_a_node_whose_last_write_is_not_seen_yet_is_not_written_again() -> None:
    life = coming()
    life.put(node("ip-10-0-0-7", providerID="kwok://default-1"))
    life.extra = {"busy": frozenset({subject("ip-10-0-0-7")})}
    life.soon()
    assert (life.phase, life.writes.count("SetNode")) == ("Provisioning", 0)


def test_what_a_cloud_controller_is_about_to_write_is_left_to_it() -> None:
    life = coming()
    waits = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"}
    life.put(node(ready=False, taints=[UNREGISTERED, waits]))
    life.soon()
    assert "topology.kubernetes.io/zone" not in joined(life).labels


def test_labels_that_others_wrote_stay() -> None:
    life = coming(labels={"team": "a"})
    life.put(node(labels={"topology.kubernetes.io/zone": "fsn1-dc14", "team": "b"}))
    life.soon()
    assert joined(life).labels["topology.kubernetes.io/zone"] == "fsn1-dc14"
    assert joined(life).labels["team"] == "b"


TAINTS = {
    "taints": [{"key": "only", "value": "gpu", "effect": "NoSchedule"}],
    "startupTaints": [{"key": "agent", "effect": "NoExecute"}],
}


def test_a_node_that_was_registered_without_taints_gets_those_of_its_pool() -> None:
    life = coming(**TAINTS)
    life.put(node(taints=[]))
    life.soon()
    assert sorted(keys(joined(life))) == ["agent", "only"]


def test_a_taint_that_its_owner_has_taken_off_already_does_not_come_back() -> None:
    life = coming(**TAINTS)
    life.put(node(taints=[UNREGISTERED, *TAINTS["taints"]]))
    life.until(110)
    assert keys(joined(life)) == ["only"]


def driver(name: str) -> CSIDriver:
    spec = CSIDriverSpec(prevent_pod_scheduling_if_missing=True)
    return CSIDriver(metadata=Metadata(name=name), spec=spec)


def registered(*drivers: str) -> CSINode:
    spec = CSINodeSpec(drivers=tuple(NodeDriver(name=each) for each in drivers))
    return CSINode(metadata=Metadata(name=NAME), spec=spec)


def test_the_start_up_taint_waits_for_storage_drivers_that_ask_for_it() -> None:
    life = coming()
    life.put(node(), driver("disk"), registered())
    life.until(130)
    assert (keys(joined(life)), life.phase) == (["growth.dev/unregistered"], "Provisioning")
    life.put(registered("disk"))
    life.soon()
    assert (keys(joined(life)), life.phase) == ([], "Ready")


def test_a_driver_that_never_comes_is_named_after_a_minute() -> None:
    life = coming()
    life.put(node(), driver("disk"), driver("share"), registered("share"))
    life.until(159)
    assert life.phase == "Provisioning"
    life.until(161)
    assert (keys(joined(life)), life.phase) == ([], "Ready")
    (told,) = (
        each
        for each in life.get("NodeRequest").status.conditions
        if each.type == "StorageDriversMissing"
    )
    assert "disk" in told.message
    assert "share" not in told.message


def test_a_machine_that_failed_is_written_down_before_its_request_is_unmet() -> None:
    life = coming()
    life.machines[NAME] = machine(
        state=MachineState.FAILED, reason="placement_error", scope=UnmetScope.LOCATION
    )
    life.until(103)
    status = life.get("NodeRequest").status
    assert (life.phase, status.unmet_scope.value) == ("Unmet", "Location")
    assert "placement_error" in status.events[-1].reason
    assert life.get("NodeRemovalRequest").spec.reason.value == "CreateFailed"
    assert life.writes.index("OpenRemoval") < life.writes.index("PatchStatus", 1)


def test_a_machine_that_failed_without_a_refusal_is_replaced_and_its_offer_stays() -> None:
    life = coming()
    life.machines[NAME] = machine(state=MachineState.FAILED, reason="label_edited")
    life.until(103)
    (note,) = (note for _, reason, note in life.events if reason == "MachineFailed")
    assert "label_edited" in note
    assert "Unmet" not in {reason for _, reason, _ in life.events}
    assert life.get("NodeRequest") is None
    assert life.get("NodeRemovalRequest").spec.reason.value == "CreateFailed"


def test_a_machine_that_is_gone_before_it_served_is_unmet() -> None:
    life = coming()
    life.until(105)
    del life.machines[NAME]
    life.until(108)
    assert life.phase == "Unmet"
    assert life.get("NodeRemovalRequest") is None


def test_a_node_that_has_joined_speaks_against_a_listing() -> None:
    life = coming()
    life.put(node(ready=False))
    life.machines.clear()
    life.until(150)
    assert life.phase == "Provisioning"


def test_a_listing_from_before_it_was_accepted_proves_nothing() -> None:
    life = coming()
    life.machines.clear()
    life.step()
    assert life.phase == "Provisioning"
    life.until(100.9)
    assert life.phase == "Provisioning"


def test_a_cloud_that_is_not_believed_proves_nothing() -> None:
    life = coming()
    life.machines.clear()
    life.believes = False
    life.until(130)
    assert life.phase == "Provisioning"
    life.believes = True
    life.soon()
    assert life.phase == "Unmet"


def test_a_machine_of_another_request_under_the_name_is_none_of_ours() -> None:
    life = coming()
    life.machines[NAME] = machine(request_uid="another", state=MachineState.FAILED)
    life.until(103)
    assert life.phase == "Unmet"
    assert life.get("NodeRemovalRequest") is None


@pytest.mark.parametrize("has_joined", [False, True])
def test_a_machine_that_never_serves_is_given_back_when_its_time_is_exceeded(
    *, has_joined: bool
) -> None:
    life = coming()
    if has_joined:
        life.put(node(ready=False))
    life.until(160)
    assert life.phase == "Provisioning"
    life.until(165)
    assert life.get("NodeRemovalRequest").spec.reason.value == "NeverJoined"
    assert life.get("NodeRequest") is None
    told = {kind: note for kind, reason, note in life.events if reason == "NeverJoined"}
    assert told.keys() == ({"NodeRequest", "Node"} if has_joined else {"NodeRequest"})
    assert ("no node joined" in told["NodeRequest"]) is not has_joined


def test_the_removal_exists_before_the_request_goes() -> None:
    life = coming()
    life.until(165)
    order = [each for each in life.writes if each in {"OpenRemoval", "SetFinalizers", "Delete"}]
    assert order == ["OpenRemoval", "SetFinalizers", "Delete"]


def test_without_its_removal_a_request_that_is_late_waits() -> None:
    life = coming()
    life.refuses = {"OpenRemoval"}
    life.until(170)
    assert life.phase == "Provisioning"
    life.refuses = set()
    life.soon()
    assert life.get("NodeRequest") is None


def test_a_machine_that_no_listing_shows_needs_no_removal() -> None:
    life = coming()
    life.until(159)
    del life.machines[NAME]
    life.put(provisioning(phase="Deprovisioning"))
    life.until(165)
    assert life.get("NodeRequest") is None
    assert life.get("NodeRemovalRequest") is None


def test_seconds_of_blindness_do_not_count() -> None:
    life = coming()
    life.until(130)
    life.sees = False
    life.until(400)
    life.sees = True
    life.until(425)
    assert life.phase == "Provisioning"
    life.until(436)
    assert life.get("NodeRequest") is None


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_clock_that_is_moved_ends_no_wait(jump: float) -> None:
    life = coming()
    life.until(130)
    life.jump = jump
    life.until(158)
    assert life.phase == "Provisioning"
    life.until(165)
    assert life.get("NodeRequest") is None


def test_a_restart_does_not_begin_the_wait_anew() -> None:
    life = coming()
    life.until(150)
    life.restart()
    life.until(165)
    assert life.get("NodeRequest") is None


def test_a_node_that_is_ready_at_last_ends_the_wait() -> None:
    life = coming()
    life.put(node(ready=False))
    life.until(159)
    life.put(ready(joined(life)))
    life.until(170)
    assert life.phase == "Ready"


def ready(found: Node) -> Node:
    return msgspec.structs.replace(found, status=node().status)


def test_taints_of_others_are_not_touched() -> None:
    life = coming()
    other = Taint("node.kubernetes.io/not-ready", "NoSchedule")
    life.put(node(taints=[UNREGISTERED, msgspec.to_builtins(other)]))
    life.soon()
    assert joined(life).spec.taints == (other,)
