"""The pools' status, the metric and the command line tell the same of any cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from growth.api.disruption import DisruptionReason
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.written import write_time
from growth.cli.cluster.survey import survey
from growth.keeping.answer import keepings
from growth.keeping.marks import is_marked
from growth.keeping.wanting import KeepingReason
from reconciler import pools
from reconciler import removal as removing
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.core.actions import PatchStatus, SetNode
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.swap_annotation import swap_text
from reconciler.figures.kept import kept_families
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from tests.provisioning.build import settled
from tests.reconciler.build import START, at, node_class, request, waiting
from tests.removal.build import SCALE_DOWN, node, removal, world
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.cli.cluster.survey import Survey
    from growth.keeping.wanting import Keeping
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

NOW = at(100)
LONG_AGO = {"phase": "Ready", "readyAt": START.isoformat()}
JUST_NOW = {"phase": "Ready", "readyAt": (START + timedelta(seconds=95.5)).isoformat()}
COMING = {"phase": "Provisioning", "acceptedAt": START.isoformat()}
UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
PAUSE_END = START + timedelta(seconds=900)
OWNED = {"kind": "ReplicaSet", "name": "web-5d", "uid": "u", "apiVersion": "apps/v1"}
REPLACES = swap_text(["default-0"], of=1, reason=DisruptionReason.DRIFT)
GIVEN_UP = frozenset({REPLACES})
PODS: Mapping[str, Any] = {
    "plain": {"metadata": {"ownerReferences": [OWNED | {"controller": True}]}},
    "invented": {"metadata": {"ownerReferences": [OWNED | {"kind": "Farm", "controller": True}]}},
    "lonely": {},
    "timed": {
        "metadata": {
            "ownerReferences": [OWNED | {"controller": True}],
            "annotations": {"growth.dev/do-not-disrupt": "5m"},
            "creationTimestamp": START.isoformat(),
        }
    },
}


class Told(NamedTuple):
    """What is said of one node, whoever says it."""

    reason: str
    owner: str
    until: Any


class Circumstances(NamedTuple):
    """What is the case on one node."""

    pods: list[str]
    promise: str
    """`asked`: by its request; `found`: it has room; `ended`: asked for, and not promised now."""
    stage: str
    is_cordoned: bool
    is_protected: bool
    is_marked: bool
    comes_for_another: bool
    removal: str


def mostly(*others: Any) -> st.SearchStrategy[Any]:
    """Nothing special, in half of all cases."""
    return st.just("") | st.sampled_from(others)


BARE = Circumstances([], "", "", False, False, False, False, "")  # noqa: FBT003 - named above
CIRCUMSTANCES = st.builds(
    Circumstances,
    pods=st.just([]) | st.lists(st.sampled_from(sorted(PODS)), max_size=3),
    promise=mostly("asked", "found", "ended"),
    stage=mostly("coming", "new"),
    is_cordoned=st.sampled_from([True, False, False]),
    is_protected=st.sampled_from([True, False, False]),
    is_marked=st.booleans(),
    comes_for_another=st.sampled_from([True, False, False]),
    removal=mostly("Pending", "RemovalFailed"),
)


def objects_of(name: str, case: Circumstances) -> tuple[list[Any], Pod | None]:
    """Everything that is there for one node, and the pod that is promised a place on it."""
    annotations = {"growth.dev/do-not-disrupt": "true"} if case.is_protected else {}
    if case.is_marked:
        annotations["growth.dev/scale-down-at"] = "2026-01-01T00:03:20.25Z"
    if case.comes_for_another:
        annotations["growth.dev/replaces"] = REPLACES
    taints = [SCALE_DOWN] if case.is_marked else []
    taints += [UNREGISTERED] if case.stage == "coming" else []
    waits = waiting(f"waits-for-{name}") if case.promise else None
    status = {"coming": COMING, "new": JUST_NOW}.get(case.stage, LONG_AGO)
    asked = (waits,) if waits is not None and case.promise != "found" else ()
    found: list[Any] = [
        node(name, annotations=annotations, taints=taints, unschedulable=case.is_cordoned),
        request(name, pods=asked, status=status),
        *(
            build.pod(f"{kind}-{number}-on-{name}", on=name, **PODS[kind])
            for number, kind in enumerate(case.pods)
        ),
        *((waits,) if waits is not None else ()),
    ]
    if case.removal:
        found.append(removal(name, status={"phase": case.removal, "removalAttempt": 5}))
    return found, waits if case.promise in {"asked", "found"} else None


def pool_of(*, is_paused: bool, minimum: int, paid_hour: str) -> NodePool:
    condition = {
        "type": "Paused",
        "status": "True",
        "reason": PauseCause.POOL.value,
        "message": "Until 2026-01-01T00:15:00Z: freeze",
        "lastTransitionTime": START.isoformat(),
    }
    return settled(
        serverTypes=[{"name": "small", "min": minimum, "max": 9}],
        scaleDown={"paidHour": paid_hour},
        status={"conditions": [condition] if is_paused else []},
    )


def world_of(
    cases: list[Circumstances], pool: NodePool, *, is_paused: bool, is_given_up: bool
) -> tuple[World, list[Any]]:
    objects: list[Any] = [pool]
    places: dict[str, Nomination] = {}
    for number, case in enumerate(cases):
        found, waits = objects_of(f"default-{number}", case)
        objects += found
        if waits is not None:
            places[waits.metadata.uid] = Nomination(
                machine=f"default-{number}", shape=waits.shape, is_bought_for=True, since=100.0
            )
    seen = world(*objects)
    nominated = PlanningLedger(nominated=Nominated(places=places))
    seen = seen.remembering(replace(seen.ledger, planning=nominated))
    if is_given_up:
        given_up = replace(seen.ledger.replacement, given_up=GIVEN_UP)
        seen = seen.remembering(replace(seen.ledger, replacement=given_up))
    if is_paused:
        pause = Pause(
            cause=PauseCause.POOL, message=f"Until {write_time(PAUSE_END)}", until=PAUSE_END
        )
        brakes = replace(seen.ledger.brakes, pauses={"default": pause})
        seen = seen.remembering(replace(seen.ledger, brakes=brakes))
    return seen, objects


def after_a_pass(seen: World, pool: NodePool) -> tuple[World, NodePool]:
    """The pool with the status that is written, and what is remembered."""
    decision = pools.decide(seen, NOW)
    assert decision.section is not None
    (patch,) = (
        step
        for sequence in decision.sequences
        for step in sequence.steps
        if isinstance(step, PatchStatus) and step.kind == "NodePool"
    )
    status = {**pool.status.document(), **patch.status}
    news = {"status": type(pool.status).model_validate(status)}
    known = seen.remembering(replace(seen.ledger, pools=decision.section))
    return known, pool.model_copy(update=news)


def seen_by_the_command(objects: Iterable[Any], pool: NodePool) -> Survey:
    ours = (NodePool, NodeRequest, NodeRemovalRequest)
    known = [each for each in objects if not isinstance(each, NodePool)]
    resources = [pool, node_class(), *(each for each in known if isinstance(each, ours))]
    return survey(resources, [each for each in known if not isinstance(each, ours)], now=NOW.wall)


@given(
    cases=st.lists(CIRCUMSTANCES, min_size=1, max_size=6),
    is_paused=st.sampled_from([True, False, False]),
    minimum=st.integers(0, 2),
    paid_hour=st.sampled_from(["Use", "Ignore"]),
)
@example(
    cases=[BARE._replace(stage="coming"), BARE], is_paused=False, minimum=1, paid_hour="Ignore"
)
def test_removal_does_what_is_told(
    cases: list[Circumstances], *, is_paused: bool, minimum: int, paid_hour: str
) -> None:
    """What is told to be idle is marked, and what is told to stay loses its marks."""
    pool = pool_of(is_paused=is_paused, minimum=minimum, paid_hour=paid_hour)
    seen, _ = world_of(cases, pool, is_paused=is_paused, is_given_up=False)
    answers = keepings(scene_of(seen), NOW)
    decided = [
        (sequence.subject.name, any(taint.key == SCALE_DOWN["key"] for taint in step.taints or ()))
        for sequence in removing.decide(seen, NOW).sequences
        for step in sequence.steps
        if isinstance(step, SetNode) and sequence.subject.name not in seen.removals
    ]
    nodes = {name: each for name, each in answers.items() if name not in seen.removals}
    marked = {name for name in nodes if is_marked(seen.cluster.nodes[name])}
    idle = {name for name, each in nodes.items() if each.reason is KeepingReason.IDLE}
    stay = {
        name
        for name, each in nodes.items()
        if each.reason not in {KeepingReason.IDLE, KeepingReason.PAID}
    }
    assert {name for name, is_marking in decided if is_marking} == idle - marked
    assert {name for name, is_marking in decided if not is_marking} == stay & marked


def told(keeping: Keeping) -> Told:
    return Told(keeping.reason.value, keeping.owner, keeping.until)


@given(
    cases=st.lists(CIRCUMSTANCES, min_size=1, max_size=6),
    is_paused=st.sampled_from([True, False, False]),
    minimum=st.integers(0, 2),
    is_given_up=st.booleans(),
    paid_hour=st.sampled_from(["Use", "Ignore"]),
    order=st.randoms(use_true_random=False),
)
def test_status_metric_and_command_tell_the_same(
    cases: list[Circumstances],
    *,
    is_paused: bool,
    is_given_up: bool,
    minimum: int,
    paid_hour: str,
    order: Any,
) -> None:
    pool = pool_of(is_paused=is_paused, minimum=minimum, paid_hour=paid_hour)
    seen, objects = world_of(cases, pool, is_paused=is_paused, is_given_up=is_given_up)
    seen, pool = after_a_pass(seen, pool)
    order.shuffle(objects)
    commands = seen_by_the_command(objects, pool).kept
    # The status.
    assert {each.node: Told(each.reason, each.owner, each.until) for each in pool.status.kept} == {
        name: told(each)
        for name, each in commands.items()
        if each.reason is not KeepingReason.OCCUPIED
    }
    counts = Counter(each.reason.value for each in commands.values())
    assert {each.reason: each.nodes for each in pool.status.nodes_by_reason} == counts
    # The metric.
    counted, ends = kept_families(seen, NOW)
    assert {tuple(each.labels.values()): each.value for each in counted.samples} == Counter(
        ("default", each.reason.value, each.owner_kind) for each in commands.values()
    )
    latest: dict[tuple[str, ...], float] = {}
    for each in commands.values():
        if each.until is not None:
            of = "default", each.reason.value
            latest[of] = max(latest.get(of, 0.0), each.until.timestamp())
    assert {tuple(each.labels.values()): each.value for each in ends.samples} == latest
