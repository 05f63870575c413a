"""A paused pool buys nothing until the pause ends, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from growth.api.nodepool import NodePool
from growth.api.written import ServerTypeName
from growth.scheduling.metadata import Metadata
from reconciler import loop
from reconciler.brakes import rule as brakes
from reconciler.brakes.pauses import PauseCause
from reconciler.brakes.rule import BrakesLedger
from reconciler.buying.offers import Shelf
from reconciler.core.actions import (
    Action,
    CreateMachine,
    CreateNodeRequest,
    PatchStatus,
    SetNode,
    Subject,
    SubjectKind,
)
from reconciler.core.pause_of_all import PauseOfAll, decode_pause_of_all
from reconciler.figures.pauses import PausedPools
from reconciler.planning.ledger import PlanningLedger
from reconciler.pools import paused as paused_news
from tests.reconciler.build import at, node_class, pool, request, waiting, world
from tests.reconciler.solved import settled
from tests.scheduling import build

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.conditions import Condition
    from reconciler.core.world import World

SOON = "2026-01-01T00:01:40Z"
"""100 seconds after the start."""
LATER = "2026-01-01T01:00:00Z"
UNTIL = "growth.dev/paused-until"


def paused(until: str, name: str = "default", **annotations: str) -> NodePool:
    made = pool(name)
    metadata = made.metadata.model_copy(update={"annotations": {UNTIL: until, **annotations}})
    return made.model_copy(update={"metadata": metadata})


def of_all(until: str | None, reason: str = "") -> PauseOfAll:
    data = {"reason": reason} | ({} if until is None else {"until": until})
    return PauseOfAll(metadata=Metadata(name="growth-pause", namespace="home"), data=data)


def said(seen: World, seconds: float = 0.0) -> BrakesLedger:
    section = brakes.decide(seen, at(seconds)).section
    assert isinstance(section, BrakesLedger)
    return section


def started(seen: World, seconds: float = 50.0) -> list[Action]:
    outcome = loop.decide(seen, at(seconds))
    return [step for sequence in outcome.sequences for step in sequence.steps]


def told(seen: World, seconds: float = 50.0) -> list[Condition]:
    """The conditions of pauses that are written."""
    known = seen.remembering(replace(seen.ledger, brakes=said(seen, seconds)))
    found = (paused_news.news(each, known, at(seconds)) for each in seen.pools.values())
    return [each for each in found if each is not None]


def bought(seen: World, seconds: float = 50.0) -> list[str]:
    steps = (step for sequence in settled(seen, seconds).sequences for step in sequence.steps)
    return [step.request.spec.pool for step in steps if isinstance(step, CreateNodeRequest)]


def test_a_paused_pool_buys_nothing_for_whom_it_alone_could_serve() -> None:
    pod = waiting(requests={"cpu": "1"})
    assert bought(world(pod, pool(), node_class())) == ["default"]
    assert bought(world(pod, paused(SOON), node_class())) == []


def test_a_pod_that_may_use_two_pools_is_served_by_the_one_that_is_not_paused() -> None:
    pod = waiting(requests={"cpu": "1"}, affinity=build_affinity("default", "other"))
    assert bought(world(pod, paused(SOON), pool("other"), node_class())) == ["other"]


def build_affinity(*pools: str) -> dict[str, Any]:
    term = {"key": "growth.dev/pool", "operator": "In", "values": list(pools)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_the_end_of_a_pause_wakes_the_loop_which_buys_again() -> None:
    seen = world(waiting(requests={"cpu": "1"}), paused(SOON), node_class())
    resting = settled(seen, 99.5)
    assert resting.wake_at == pytest.approx(100)
    again = msgspec.structs.replace(seen, ledger=resting.ledger)
    assert bought(again, seconds=100) == ["default"]


def test_a_long_pause_is_looked_at_each_minute_as_clocks_are_moved() -> None:
    assert loop.decide(world(paused(LATER)), at(20)).wake_at == pytest.approx(80)


def test_a_request_of_a_paused_pool_waits_before_its_machine_is_ordered() -> None:
    seen = world(request(), paused(SOON), node_class())
    assert not [step for step in started(seen) if isinstance(step, CreateMachine)]
    assert [step for step in started(seen, seconds=100) if isinstance(step, CreateMachine)]


def test_what_is_on_its_way_is_finished_in_a_pause() -> None:
    node = build.node(
        "default-1", taints=[{"key": "growth.dev/unregistered", "effect": "NoSchedule"}]
    )
    ready = msgspec.convert(
        {"conditions": [{"type": "Ready", "status": "True"}]}, type(node.status)
    )
    joined = msgspec.structs.replace(node, status=ready)
    coming = request(status={"phase": "Provisioning"})
    steps = started(world(coming, joined, paused(SOON), node_class()))
    assert any(isinstance(step, SetNode) for step in steps)


@pytest.mark.parametrize("until", ["", "tomorrow", "2026-01-01", "2026-01-01T00:01:40"])
def test_a_time_that_cannot_be_read_pauses_until_it_is_mended(until: str) -> None:
    pause = said(world(paused(until)), seconds=1e6).pauses["default"]
    assert (pause.cause, pause.until) == (PauseCause.UNREADABLE, None)
    assert UNTIL in pause.message


def test_one_config_map_pauses_every_pool() -> None:
    seen = world(pool(), pool("gpu"), pause_of_all=of_all(SOON, "we move house"))
    pauses = said(seen).pauses
    assert set(pauses) == {"default", "gpu"}
    assert {each.cause for each in pauses.values()} == {PauseCause.ALL}
    assert "we move house" in pauses["gpu"].message
    assert said(seen, seconds=100).pauses == {}


def test_a_config_map_without_a_time_pauses_and_says_where_to_mend_it() -> None:
    pause = said(world(pool(), pause_of_all=of_all(None))).pauses["default"]
    assert pause.cause is PauseCause.UNREADABLE
    assert "ConfigMap home/growth-pause: until" in pause.message


def test_of_two_pauses_the_longer_one_counts() -> None:
    pauses = said(world(paused(LATER), pause_of_all=of_all(SOON))).pauses
    assert pauses["default"].cause is PauseCause.POOL
    pauses = said(world(paused(SOON), pause_of_all=of_all(LATER))).pauses
    assert pauses["default"].cause is PauseCause.ALL


def conditions(seen: World, seconds: float = 50.0) -> Any:
    return [each.document() for each in told(seen, seconds)]


def kept(found: NodePool, deletion_timestamp: datetime | None = None, **status: Any) -> NodePool:
    """With growth's finalizer, and this status."""
    held = {
        "finalizers": ("growth.dev/provider-cleanup",),
        "deletion_timestamp": deletion_timestamp,
    }
    known = NodePool.model_validate(found.document() | {"status": status})
    return known.model_copy(update={"metadata": found.metadata.model_copy(update=held)})


def written(seen: World, seconds: float = 50.0) -> list[PatchStatus]:
    """What pools write of themselves."""
    outcome = loop.decide(seen, at(seconds))
    steps = (step for sequence in outcome.sequences for step in sequence.steps)
    return [each for each in steps if isinstance(each, PatchStatus) and each.kind == "NodePool"]


def with_conditions(found: NodePool, written: Any) -> NodePool:
    return NodePool.model_validate(found.document() | {"status": {"conditions": written}})


def test_a_paused_pool_has_a_condition_that_says_until_when_and_why() -> None:
    (said_so,) = conditions(world(paused(SOON, **{"growth.dev/paused-reason": "a bill"})))
    assert (said_so["type"], said_so["status"], said_so["reason"]) == (
        "Paused",
        "True",
        "PausedByAnnotation",
    )
    assert said_so["message"] == f"Until {SOON}: a bill"


def test_a_condition_is_written_once_and_taken_back_when_the_pause_ends() -> None:
    begun = conditions(world(paused(SOON)))
    known = with_conditions(paused(SOON), begun)
    assert not told(world(known), seconds=50)
    (ended,) = conditions(world(known), seconds=100)
    assert (ended["status"], ended["reason"]) == ("False", "Resumed")
    assert not told(world(with_conditions(paused(SOON), [ended])), seconds=101)


@pytest.mark.parametrize(
    ("until", "seconds", "end"),
    [(SOON, 50, SOON), (SOON, 100, None), ("tomorrow", 50, None)],
    ids=["paused", "over", "a time that nobody can read"],
)
def test_the_status_tells_the_end_of_a_pause(until: str, seconds: float, end: str | None) -> None:
    seen = world(kept(paused(until), pausedUntil=LATER), node_class())
    (patch,) = written(seen, seconds)
    assert patch.status["pausedUntil"] == end


def test_a_pool_that_leaves_tells_the_end_of_its_pause_too() -> None:
    leaving = kept(paused(SOON), deletion_timestamp=at(0).wall)
    (patch,) = written(world(leaving, request()))
    assert patch.status["pausedUntil"] == SOON


def test_other_conditions_of_the_pool_stay() -> None:
    other = {
        "type": "Ready",
        "status": "True",
        "reason": "AllServe",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    leaving = with_conditions(paused(SOON), [other])
    metadata = {"deletion_timestamp": at(0).wall, "finalizers": ("growth.dev/provider-cleanup",)}
    gone = leaving.metadata.model_copy(update=metadata)
    seen = world(leaving.model_copy(update={"metadata": gone}), request())
    (patch,) = written(seen)
    types = [each["type"] for each in patch.status["conditions"]]
    assert types == ["Ready", "Paused", "Deleting"]


def test_a_pool_that_is_being_written_is_not_written_again() -> None:
    busy = frozenset({Subject(SubjectKind.POOL, "default")})
    held = paused(SOON)
    kept = {"finalizers": ("growth.dev/provider-cleanup",)}
    held = held.model_copy(update={"metadata": held.metadata.model_copy(update=kept)})
    assert written(world(held))
    assert not written(world(held, busy=busy))


def test_a_pool_that_was_never_paused_has_no_condition_of_it() -> None:
    assert not told(world(pool()))


def test_the_config_map_is_read_as_the_api_server_tells_it() -> None:
    told = b'{"kind":"ConfigMap","metadata":{"name":"growth-pause"},"data":{"until":"x"}}'
    assert decode_pause_of_all(told).data == {"until": "x"}
    assert decode_pause_of_all(b'{"metadata":{"name":"growth-pause"}}').data == {}


def test_a_metric_names_the_paused_pools_and_why() -> None:
    registry = CollectorRegistry()
    PausedPools(registry, lambda: said(world(paused(SOON), pool("gpu"))).pauses)
    text = generate_latest(registry).decode()
    assert 'growth_paused{cause="PausedByAnnotation",pool="default"} 1.0' in text
    assert "gpu" not in text


def test_a_pool_that_has_several_things_to_say_says_them_in_one_write() -> None:
    told = paused(SOON)
    kept = {"finalizers": ("growth.dev/provider-cleanup",)}
    held = told.model_copy(update={"metadata": told.metadata.model_copy(update=kept)})
    seen = world(held, node_class())
    known = PlanningLedger(
        shelf=Shelf(missing={"default": (ServerTypeName("gone"),)}),
        binding={"default": ("Nodes", "limits.nodes is reached")},
    )
    seen = seen.remembering(replace(seen.ledger, planning=known))
    (patch,) = written(seen)
    types = {each["type"] for each in patch.status["conditions"]}
    assert types >= {"Paused", "LimitReached", "Ready", "NodeClassReady"}
