"""Why a node is there: one reason, one owner, one until-when, and the same as removal acts on."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.disruption import DisruptionReason
from growth.keeping.answer import keepings
from growth.keeping.wanting import Keeping, KeepingReason
from reconciler.core.actions import machine as subject
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.swap_annotation import swap_text
from reconciler.figures.kept import kept_families
from reconciler.removal import decide
from tests.reconciler.build import START, at, pool, request
from tests.removal.build import NAME, SCALE_DOWN, machine, marked, node, removal, world
from tests.removal.test_idle import left_behind, paused, promised
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

OWNED = {"kind": "ReplicaSet", "name": "web-5d", "uid": "u", "apiVersion": "apps/v1"}
BY_DEPLOYMENT = {
    "ownerReferences": [OWNED | {"controller": True}],
    "labels": {"pod-template-hash": "5d", "app": "web"},
}
UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}


def web(name: str = "web-0", **metadata: Any) -> Pod:
    return build.pod(name, on=NAME, metadata=BY_DEPLOYMENT | metadata)


def answer(given: World, seconds: float = 100.0) -> Keeping:
    return keepings(scene_of(given), at(seconds))[NAME]


def ready(at_second: float) -> Any:
    moment = (START + timedelta(seconds=at_second)).isoformat()
    return {"phase": "Ready", "readyAt": moment}


LONELY = build.pod("db-0", on=NAME)
HOURLY = pool(scaleDown={"paidHour": "Use"})
REPLACES = swap_text(["default-0"], of=1, reason=DisruptionReason.CONSOLIDATION)
ANSWERS: dict[str, tuple[World, KeepingReason, str, str, float | None]] = {
    "one pod": (
        world(node(), web()),
        KeepingReason.OCCUPIED,
        "shop/web-0 runs on it",
        "Deployment shop/web",
        None,
    ),
    "several pods": (
        world(node(), web(), web("web-1"), web("web-2")),
        KeepingReason.OCCUPIED,
        "shop/web-0 and 2 other pods run on it",
        "Deployment shop/web",
        None,
    ),
    "a pod that nobody would make again": (
        world(node(), web(), LONELY),
        KeepingReason.HELD,
        "shop/db-0 can't be evicted: it has no controller to recreate it",
        "Pod shop/db-0",
        None,
    ),
    "a promise": (
        promised(world(node())),
        KeepingReason.PROMISED,
        "a place on it is reserved for a pod",
        "growth",
        None,
    ),
    "its pool leaves it behind": (
        world(node(), left_behind()),
        KeepingReason.RETAINED,
        "its pool is being deleted, and keeps its nodes (deletionPolicy Retain)",
        "NodePool default",
        None,
    ),
    "a cordon": (
        world(node(unschedulable=True)),
        KeepingReason.CORDONED,
        "a person has cordoned it",
        "person who cordoned it",
        None,
    ),
    "an annotation": (
        world(node(annotations={"growth.dev/do-not-disrupt": "true"})),
        KeepingReason.PROTECTED,
        "it has the annotation growth.dev/do-not-disrupt",
        "annotation growth.dev/do-not-disrupt",
        None,
    ),
    "an annotation of Karpenter's": (
        world(node(annotations={"karpenter.sh/do-not-disrupt": "true"})),
        KeepingReason.PROTECTED,
        "it has the annotation karpenter.sh/do-not-disrupt",
        "annotation karpenter.sh/do-not-disrupt",
        None,
    ),
    "a pause": (
        paused(world(node())),
        KeepingReason.PAUSED,
        "its pool is paused",
        "NodePool default",
        None,
    ),
    "it came for another": (
        world(node(annotations={"growth.dev/replaces": REPLACES}), node("default-0")),
        KeepingReason.IN_PLACE,
        "it replaces default-0",
        "growth",
        None,
    ),
    "it has just come": (
        world(node(), request(status=ready(95))),
        KeepingReason.STARTING,
        "it is new, and its pods have some time to arrive",
        "NodeRequest default-1",
        110.0,
    ),
    "it has just come, and the clock was set back a little": (
        world(node(), request(status=ready(110))),
        KeepingReason.STARTING,
        "it is new, and its pods have some time to arrive",
        "NodeRequest default-1",
        125.0,
    ),
    "it came before the clock was set back by an hour": (
        world(node(), request(status=ready(3700))),
        KeepingReason.IDLE,
        "it is idle, and is marked for removal after a short wait",
        "growth",
        None,
    ),
    "it is coming": (
        world(
            node(taints=[UNREGISTERED]),
            request(status={"phase": "Provisioning", "acceptedAt": START.isoformat()}),
        ),
        KeepingReason.STARTING,
        "it isn't ready yet",
        "NodeRequest default-1",
        600.0,
    ),
    "the pool's minimum": (
        world(node(), pool(serverTypes=[{"name": "small", "min": 1, "max": 3}])),
        KeepingReason.MINIMUM,
        "the minimum of its pool requires it",
        "NodePool default",
        None,
    ),
    "a paid hour": (
        world(node(), HOURLY),
        KeepingReason.PAID,
        "it is idle, and stays until the end of the hour that is already paid",
        "growth",
        3600.0 - 120.0 - 60.0,
    ),
    "it is marked": (
        world(marked(until=150), shown=(machine(),)),
        KeepingReason.IDLE,
        "it is idle, and is removed unless a pod arrives",
        "growth",
        150.0,
    ),
    "it is given back": (
        world(node(taints=[SCALE_DOWN]), removal(reason="Idle"), shown=(machine(),)),
        KeepingReason.LEAVING,
        "it is being removed (Idle, Pending)",
        "growth",
        None,
    ),
    "it could not be given back": (
        world(node(), removal(status={"phase": "RemovalFailed", "removalAttempt": 5})),
        KeepingReason.REMOVAL_FAILED,
        "its machine still exists after 5 requests to delete it",
        "NodeRemovalRequest default-1",
        None,
    ),
}


@pytest.mark.parametrize(
    ("given", "reason", "why", "owner", "until"), ANSWERS.values(), ids=ANSWERS.keys()
)
def test_a_kept_node_has_one_reason_one_owner_and_one_until_when(
    given: World, reason: KeepingReason, why: str, owner: str, until: float | None
) -> None:
    found = answer(given)
    assert (found.reason, found.why, found.owner) == (reason, why, owner)
    assert found.until == (None if until is None else START + timedelta(seconds=until))


STAYS = {
    name: given
    for name, (given, reason, *_) in ANSWERS.items()
    if reason not in {KeepingReason.IDLE, KeepingReason.LEAVING, KeepingReason.REMOVAL_FAILED}
}


@pytest.mark.parametrize("given", STAYS.values(), ids=STAYS.keys())
def test_a_node_that_is_told_to_stay_is_not_touched_by_removal(given: World) -> None:
    decided = decide(given, at(100)).sequences
    assert not [each for each in decided if each.subject == subject(NAME)]


def test_a_node_that_is_told_to_be_idle_is_marked_by_removal() -> None:
    given = world(node(), shown=(machine(),))
    assert answer(given).reason is KeepingReason.IDLE
    assert [each.why for each in decide(given, at(100)).sequences] == ["the node is idle"]


def test_a_pod_that_stays_for_a_while_tells_until_when() -> None:
    started = web(
        "job-0",
        annotations={"growth.dev/do-not-disrupt": "10m"},
        creationTimestamp=START.isoformat(),
    )
    found = answer(world(node(), started))
    assert found.reason is KeepingReason.HELD
    assert found.until == START + timedelta(minutes=10)
    # A pod that stays for ever counts for more than one that stays for a while.
    assert answer(world(node(), started, LONELY)).owner == "Pod shop/db-0"


def test_the_pools_minimum_holds_the_last_that_would_go() -> None:
    types = [{"name": "small", "min": 1, "max": 3}]
    older, younger = node("default-1", made_at=0), node("default-2", made_at=50)
    found = keepings(scene_of(world(older, younger, pool(serverTypes=types))), at(100))
    assert {name: each.reason for name, each in found.items()} == {
        "default-1": KeepingReason.IDLE,
        "default-2": KeepingReason.MINIMUM,
    }


def test_a_node_that_boots_is_not_the_minimum_of_its_pool() -> None:
    rules = pool(
        serverTypes=[{"name": "small", "min": 1, "max": 3}],
        scaleDown={"order": "NotReadyOldestLeastUsed"},
    )
    boots = node("default-2", made_at=50, ready=False, taints=[UNREGISTERED])
    shown = (machine(), machine("default-2"))
    given = world(node(made_at=0), boots, rules, shown=shown)
    assert answer(given).reason is KeepingReason.MINIMUM
    assert not decide(given, at(100)).sequences


def test_a_node_that_is_leaving_does_not_count_for_the_minimum() -> None:
    types = [{"name": "small", "min": 1, "max": 3}]
    given = world(
        node("default-1"), node("default-2"), removal("default-1"), pool(serverTypes=types)
    )
    assert keepings(scene_of(given), at(100))["default-2"].reason is KeepingReason.MINIMUM
    assert not [each for each in decide(given, at(100)).sequences if "idle" in each.why]


def test_a_node_whose_pool_is_gone_says_so() -> None:
    found = answer(world(node(), pool("other")))
    assert found.why.endswith("its NodePool default no longer exists, so it isn't removed")


def test_nodes_of_others_have_no_answer() -> None:
    assert not keepings(scene_of(world(build.node("theirs"))), at(0))


def test_the_metric_counts_nodes_by_the_same_words() -> None:
    counts, ends = kept_families(world(node(), marked("default-2", until=150), web()), at(100))
    assert {tuple(each.labels.values()): each.value for each in counts.samples} == {
        ("default", "Occupied", "Deployment"): 1,
        ("default", "Idle", "growth"): 1,
    }
    assert {tuple(each.labels.values()): each.value for each in ends.samples} == {
        ("default", "Idle"): (START + timedelta(seconds=150)).timestamp()
    }


def test_an_end_is_told_in_whole_seconds_and_never_too_early() -> None:
    found = answer(world(node(), request(status=ready(95.25))))
    assert found.until == START + timedelta(seconds=111)
    job = web(
        "job-0",
        annotations={"growth.dev/do-not-disrupt": "10m0.5s"},
        creationTimestamp=START.isoformat(),
    )
    for seconds in (100.0, 100.3, 211.7):
        assert answer(world(node(), job), seconds).until == START + timedelta(seconds=601)


def test_it_is_looked_at_again_at_the_exact_end_and_never_for_what_is_overdue() -> None:
    keeping = Keeping(
        reason=KeepingReason.STARTING, why="", owner="growth", ends=START + timedelta(seconds=100.5)
    )
    assert keeping.ends_at(at(100)) == pytest.approx(100.5)
    assert 100.5 < keeping.ends_at(at(100.5)) < 100.6
    assert keeping.ends_at(at(101)) == math.inf


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("growth", "growth"),
        ("Pod shop/db-0", "Pod"),
        ("NodePool default", "NodePool"),
        ("annotation growth.dev/do-not-disrupt", "annotation"),
        ("person who cordoned it", "person"),
        ("Farm shop/web", "other"),
    ],
)
def test_an_owners_first_word_is_one_of_a_few(owner: str, kind: str) -> None:
    assert Keeping(reason=KeepingReason.HELD, why="", owner=owner).owner_kind == kind
