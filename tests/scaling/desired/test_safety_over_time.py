"""What keeps nodes of a pool of the policy Desired, row by row, and that the next one is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.kube.cache.resource import Key
from tests.scaling.desired.group import MINUTE, GroupTold

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.node import Node


def with_one_badly_used() -> tuple[GroupTold, str]:
    """Two nodes with a pod each, of which the younger one is used little."""
    told = GroupTold(scaleDownCooldown="1m")
    told.wants(8, cpu="900m")
    told.passes(3 * MINUTE)
    told.wants(2)
    told.passes(MINUTE)
    _, idle = told.nodes
    told.measured.percent = {idle: 10}
    return told, idle


def after_a_while(told: GroupTold) -> GroupTold:
    told.passes(20 * MINUTE)
    return told


def gone(told: GroupTold) -> None:
    told.measured.fails = True


def of_nobody(told: GroupTold) -> None:
    told.measured.usual = None
    told.measured.percent = {}


def old(told: GroupTold) -> None:
    told.measured.lag = 10 * MINUTE


def lying(amount: str) -> Callable[[GroupTold], None]:
    def lies(told: GroupTold) -> None:
        figures = {"cpu": amount, "memory": "1Gi"}
        told.measured.percent = dict.fromkeys(told.nodes, figures)

    return lies


def from_the_future(told: GroupTold) -> None:
    told.measured.lag = -10 * MINUTE


@pytest.mark.parametrize(
    "breaks",
    [gone, of_nobody, old, lying("-1"), lying("NaN"), lying("a lot"), from_the_future],
    ids=["gone", "of nobody", "old", "negative", "NaN", "unreadable", "from the future"],
)
def test_figures_that_cannot_be_true_never_remove_a_node_and_are_told(
    breaks: Callable[[GroupTold], None],
) -> None:
    told, _ = with_one_badly_used()
    breaks(told)
    after_a_while(told)
    assert len(told.nodes) == 2
    assert told.holds() == {"Metrics"}
    assert told.status.change == 0


def test_it_is_told_why_nothing_can_be_read() -> None:
    told, _ = with_one_badly_used()
    gone(told)
    after_a_while(told)
    (hold,) = told.status.holds
    assert "can't be read: refused" in hold.message


def test_figures_that_come_back_are_watched_for_their_whole_time_again() -> None:
    told, idle = with_one_badly_used()
    told.measured.fails = True
    after_a_while(told)
    told.measured.fails = False
    told.passes(3 * MINUTE)
    assert idle in told.nodes
    after_a_while(told)
    assert idle not in told.nodes


def annotated(told: GroupTold, name: str, **annotations: str) -> None:
    def changed(node: Node) -> Node:
        metadata = msgspec.structs.replace(
            node.metadata, annotations={**node.metadata.annotations, **annotations}
        )
        return msgspec.structs.replace(node, metadata=metadata)

    told.server.change("nodes", Key("", name), changed)


@pytest.mark.parametrize(
    ("annotation", "value", "hold"),
    [
        ("growth.dev/do-not-disrupt", "true", "ProtectedNode"),
        ("autoscaler.vpsie.com/protected", "true", "ProtectedNode"),
        ("autoscaler.vpsie.com/scale-down", "disabled", "PolicyConstraint"),
        ("autoscaler.vpsie.com/scale-down-allowed-hours", "22:00-22:01", "PolicyConstraint"),
    ],
)
def test_a_person_s_word_on_a_node_keeps_it(annotation: str, value: str, hold: str) -> None:
    told, idle = with_one_badly_used()
    annotated(told, idle, **{annotation: value})
    after_a_while(told)
    assert idle in told.nodes
    assert hold in told.holds()


def cordoned(told: GroupTold, name: str, *, on: bool = True) -> None:
    def changed(node: Node) -> Node:
        return msgspec.structs.replace(
            node, spec=msgspec.structs.replace(node.spec, unschedulable=on)
        )

    told.server.change("nodes", Key("", name), changed)


def test_a_node_that_a_person_cordoned_is_no_longer_counted_and_stays() -> None:
    told = GroupTold(nodes=2, maxNodes=5)
    told.passes(2 * MINUTE)
    first, _ = told.nodes
    cordoned(told, first)
    told.passes(2 * MINUTE)
    assert len(told.nodes) == 3
    told.scaled(desiredNodes=1)
    after_a_while(told)
    assert first in told.nodes
    assert len(told.nodes) == 2


@pytest.mark.parametrize(
    ("pod", "hold"),
    [
        ({"volumes": [{"name": "data", "emptyDir": {}}]}, "LocalStorage"),
        ({"priority": 2_000_000_000}, "SystemPods"),
        ({"nodeSelector": {"disk": "fast"}}, "Capacity"),
    ],
    ids=["local storage", "system", "nowhere else"],
)
def test_a_node_that_a_check_holds_back_is_passed_over_and_the_next_one_goes(
    pod: dict[str, Any], hold: str
) -> None:
    told = GroupTold(nodes=3, scaleDownCooldown="1m")
    told.passes(2 * MINUTE)
    first, second, _ = told.nodes
    selects = pod.pop("nodeSelector", None)
    if selects:

        def labelled(node: Node) -> Node:
            labels = {**node.labels, **selects}
            return msgspec.structs.replace(
                node, metadata=msgspec.structs.replace(node.metadata, labels=labels)
            )

        told.server.change("nodes", Key("", first), labelled)
    pinned = selects or {"kubernetes.io/hostname": first}
    told.wants(1, name="pinned", cpu="100m", **pod, nodeSelector=pinned)
    told.passes(MINUTE)
    told.scaled(desiredNodes=2)
    told.passes(5 * MINUTE)
    assert first in told.nodes
    assert second not in told.nodes


def test_a_disabled_policy_gives_nothing_back() -> None:
    told = GroupTold(nodes=2, scaleDownPolicy="Disabled", scaleDownCooldown="1m")
    told.passes(2 * MINUTE)
    told.scaled(desiredNodes=1)
    told.passes(5 * MINUTE)
    assert len(told.nodes) == 2
    assert "PolicyConstraint" in told.holds()


def test_what_a_person_has_asked_for_is_not_taken_away_for_little_use() -> None:
    told = GroupTold(nodes=2, scaleDownCooldown="1m")
    told.measured.usual = 5
    told.passes(30 * MINUTE)
    assert len(told.nodes) == 2
    assert told.holds() == {"MinNodes"}


def test_nothing_is_bought_and_it_is_told_if_no_type_is_to_be_had() -> None:
    told = GroupTold(nodes=1, types=[{"name": "huge", "max": 3}])
    told.passes(MINUTE)
    assert told.nodes == []
    assert told.status.reason == "Limited"


def test_steps_and_what_blocks_them_are_told_in_events_once() -> None:
    told = GroupTold(nodes=2, scaleDownCooldown="1m")
    told.passes(2 * MINUTE)
    assert told.events.count("ScalingUp") == 1
    for name in told.nodes:
        annotated(told, name, **{"growth.dev/do-not-disrupt": "true"})
    told.scaled(desiredNodes=1)
    told.passes(5 * MINUTE)
    assert told.events.count("ScaleDownBlocked") >= 1
    assert len(told.nodes) == 2
    annotated(told, told.nodes[0], **{"growth.dev/do-not-disrupt": "false"})
    told.passes(5 * MINUTE)
    assert len(told.nodes) == 1
    assert "ScalingDown" in told.events


def test_a_type_that_is_not_to_be_had_is_told_in_an_event() -> None:
    told = GroupTold(nodes=1, types=[{"name": "huge", "max": 3}])
    told.passes(5 * MINUTE)
    assert told.events.count("ScaleUpFailed") == 1


def test_a_badly_used_node_that_is_protected_at_the_last_moment_is_not_replaced_by_a_busy_one() -> (
    None
):
    told, idle = with_one_badly_used()
    while told.status.desired_nodes == 2:
        told.passes(1.0)
    annotated(told, idle, **{"growth.dev/do-not-disrupt": "true"})
    after_a_while(told)
    assert len(told.nodes) == 2
    assert told.status.desired_nodes == 2
