"""Which nodes may be chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.disruption import DisruptionReason
from growth.scheduling.occupancy import EMPTY
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.facts.listings import clouds
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.replacement.candidates import (
    ReplacementLook,
    candidates,
    eligible,
    in_turn,
    movable,
)
from reconciler.replacement.ledger import ReplacementLedger, Still
from tests.reconciler.build import START, at, pool, request
from tests.removal.build import machine, removal, world
from tests.replacement.renewer import CONTROLLED, running, standing

if TYPE_CHECKING:
    from reconciler.ledger import Ledger

NAME = "default-1"
NOW = at(1000.0)
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
MARK = {"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"}
STARTING = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
HOLD = {"growth.dev/do-not-disrupt": "true"}


def looked_at(*objects: Any, since: float = 900.0, **changes: Any) -> ReplacementLook:
    """A node that has had its quiet, and everything healthy, but for what a test says."""
    given = [each for each in objects if each.__class__.__name__ != "Pod"] or [standing(NAME)]
    pods = [each for each in objects if each.__class__.__name__ == "Pod"]
    shown = changes.pop("shown", (machine(NAME),))
    seen = world(*given, *(pods or [running("web-0", NAME)]), shown=shown, **changes)
    still = {name: Still(occupancy=EMPTY, since=since) for name in seen.cluster.nodes}
    seen = seen.remembering(replace(seen.ledger, replacement=ReplacementLedger(still=still)))
    return ReplacementLook(world=seen, now=NOW, clouds=clouds(seen), taken=frozenset())


def chosen(look: ReplacementLook) -> bool:
    nodes = eligible(look, dict.fromkeys(look.world.pools, 1)).quiet
    return [node.name for node in nodes] == [NAME]


def paused(look: ReplacementLook) -> ReplacementLook:
    pause = {"default": Pause(cause=PauseCause.POOL, message="", until=None)}
    ledger = look.world.ledger
    return _with(look, replace(ledger, brakes=replace(ledger.brakes, pauses=pause)))


def promised(look: ReplacementLook) -> ReplacementLook:
    pod = running("web-0", NAME)
    place = Nomination(machine=NAME, shape=pod.shape, is_bought_for=False)
    nominated = Nominated(places={"late": place})
    ledger = look.world.ledger
    return _with(look, replace(ledger, planning=replace(ledger.planning, nominated=nominated)))


def resting(look: ReplacementLook) -> ReplacementLook:
    ledger = look.world.ledger
    at_rest = replace(ledger.replacement, resting={NAME: 1001.0})
    return _with(look, replace(ledger, replacement=at_rest))


def _with(look: ReplacementLook, ledger: Ledger) -> ReplacementLook:
    seen = look.world.remembering(ledger)
    return ReplacementLook(world=seen, now=look.now, clouds=clouds(seen), taken=look.taken)


def test_a_node_in_use_that_has_had_its_quiet_may_go() -> None:
    assert chosen(looked_at())


LEFT_ALONE = {
    "quiet for a moment only": looked_at(since=990.0),
    "not ready": looked_at(standing(NAME, ready=False)),
    "cordoned by a person": looked_at(standing(NAME, unschedulable=True)),
    "marked as idle": looked_at(standing(NAME, taints=[MARK])),
    "not serving yet": looked_at(standing(NAME, taints=[STARTING])),
    "held by an annotation": looked_at(standing(NAME, annotations=HOLD)),
    "held by an annotation of the Cluster Autoscaler's": looked_at(
        standing(NAME, annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"})
    ),
    "on its way out": looked_at(removals={NAME: removal(NAME)}),
    "of a pool that is gone": looked_at(standing(NAME), pool(), pools={}),
    "not listed": looked_at(shown=()),
    "bought a moment ago": looked_at(
        standing(NAME), request(NAME, status={"phase": "Ready", "readyAt": at(990.0).wall})
    ),
    "of a paused pool": paused(looked_at()),
    "promised to a pod": promised(looked_at()),
    "resting": resting(looked_at()),
}


def test_a_node_whose_pods_have_just_changed_is_looked_at_and_may_not_go_yet() -> None:
    look = looked_at(since=990.0)
    found = eligible(look, dict.fromkeys(look.world.pools, 1))
    assert [node.name for node in found.restless] == [NAME]
    assert found.wake_at == 990.0 + look.world.timing.quiet
    candidate, *others = candidates(found, look)[0]
    assert not others
    assert not candidate.is_quiet


@pytest.mark.parametrize("is_ready", [True, False], ids=["serves", "does not serve"])
def test_the_minimum_of_a_pool_is_left_alone_unless_another_node_serves(*, is_ready: bool) -> None:
    rules = pool(serverTypes=[{"name": "small", "min": 1, "max": 9}])
    look = looked_at(standing(NAME), standing("default-2", ready=is_ready), rules)
    found, _ = candidates(eligible(look, {"default": 1}), look)
    assert [each.name for each in found] == ([NAME] if is_ready else [])


@pytest.mark.parametrize("look", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_a_node_is_left_alone_that_is(look: ReplacementLook) -> None:
    assert not chosen(look)


NEW = looked_at(standing(NAME), request(NAME, status={"phase": "Ready", "readyAt": at(990.0).wall}))


@pytest.mark.parametrize(
    ("look", "drifted", "sick"),
    [
        (looked_at(), True, True),
        (promised(looked_at()), False, True),
        (NEW, False, True),
        (paused(looked_at()), False, False),
        (looked_at(standing(NAME, annotations=HOLD)), False, False),
        (looked_at(removals={NAME: removal(NAME)}), False, False),
    ],
    ids=["in use", "promised", "new", "paused", "held", "leaving"],
)
def test_what_keeps_a_node_keeps_a_drifted_one_and_no_pod_comes_to_a_sick_one(
    look: ReplacementLook, *, drifted: bool, sick: bool
) -> None:
    def goes(reason: DisruptionReason) -> bool:
        return bool(in_turn({NAME: "why"}, {"default": 1}, look, reason=reason).nodes)

    assert goes(DisruptionReason.DRIFT) is drifted
    assert goes(DisruptionReason.UNHEALTHY) is sick


def test_a_drifted_node_that_is_new_is_looked_at_when_its_pods_had_their_time() -> None:
    turn = in_turn({NAME: "why"}, {"default": 1}, NEW, reason=DisruptionReason.DRIFT)
    assert turn.wake_at == pytest.approx(1005.0)


def test_a_clock_that_was_set_back_holds_no_node_from_consolidation() -> None:
    assert chosen(
        looked_at(
            standing(NAME), request(NAME, status={"phase": "Ready", "readyAt": at(4600.0).wall})
        )
    )


def test_a_node_that_is_bought_by_the_hour_is_used_until_its_hour_is_nearly_over() -> None:
    hourly = pool(scaleDown={"paidHour": "Use"})
    bought = {"growth.dev/bought-at": START.isoformat()}
    look = looked_at(standing(NAME, annotations=bought), hourly)
    assert not chosen(look)
    late = ReplacementLook(world=look.world, now=at(3000.0), clouds=look.clouds, taken=look.taken)
    assert chosen(late)


@pytest.mark.parametrize(
    "pod",
    [
        running("web-0", NAME, metadata={"annotations": HOLD, "ownerReferences": CONTROLLED}),
        running("web-0", NAME, metadata={"ownerReferences": []}),
        running("web-0", NAME, volumes=[{"name": "data", "hostPath": {"path": "/data"}}]),
    ],
    ids=["held", "alone", "with local data"],
)
def test_a_pod_that_may_not_move_keeps_its_node(pod: Any) -> None:
    look = looked_at(pod)
    assert movable(look.world.cluster.nodes[NAME], look)[0] is None
