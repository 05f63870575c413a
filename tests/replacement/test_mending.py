"""Labels and taints of a pool reach the nodes that it has, and nothing of others is touched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from growth.api.wellknown import TEMPLATE_ANNOTATION
from growth.scheduling.taints import Taint
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.buying.blueprints import read_blueprint
from reconciler.core.actions import SetNode
from reconciler.core.actions import machine as subject
from reconciler.replacement.drift import drifted
from reconciler.replacement.mending import mended
from tests.removal.build import NAME, removal
from tests.replacement.build import having, made_in, node_class, pool

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.world import World

SOFT = {"key": "team", "value": "shop", "effect": "NoSchedule"}
HARD = {"key": "team", "value": "shop", "effect": "NoExecute"}
FOREIGN = {"key": "gpu", "value": "", "effect": "NoSchedule"}
COMING = {"key": "growth.dev/unregistered", "value": "", "effect": "NoSchedule"}
OURS = {"growth.dev/pool", "growth.dev/managed-by", "growth.dev/instance-type"}


def later(before: dict[str, Any], after: dict[str, Any], **fields: Any) -> World:
    """A node of a pool that has been changed since."""
    bought = made_in(having(pool(**before), node_class()), **fields)
    return having(pool(**after), node_class(), bought)


def writes(given: World) -> list[SetNode]:
    return [step for each in mended(given) for step in each.steps if isinstance(step, SetNode)]


def written(given: World) -> SetNode:
    (found,) = writes(given)
    return found


def carried_out(given: World, step: SetNode) -> World:
    """The world as it is after a write to its node."""
    node = given.cluster.nodes[NAME]
    labels = {**node.labels, **step.labels}
    metadata = msgspec.structs.replace(
        node.metadata,
        labels={key: value for key, value in labels.items() if value is not None},
        annotations={**node.metadata.annotations, **step.annotations},
    )
    taints = node.spec.taints if step.taints is None else step.taints
    spec = msgspec.structs.replace(node.spec, taints=taints)
    changed: Node = msgspec.structs.replace(node, metadata=metadata, spec=spec)
    return msgspec.structs.replace(given, cluster=given.cluster.with_node(changed))


# Labels

A, B = {"labels": {"team": "a"}}, {"labels": {"team": "b"}}
LABELS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str], dict[str, Any]]] = {
    "a new one is set": ({}, A, {}, {"team": "a"}),
    "a changed one is changed": (A, B, {"team": "a"}, {"team": "b"}),
    "one that is out is taken off": (A, {}, {"team": "a"}, {"team": None}),
    "one that a person has changed stays": (A, B, {"team": "mine"}, {}),
    "one that a person has taken off stays off": (A, B, {}, {}),
    "one that a person has set stays": ({}, A, {"team": "mine"}, {}),
    "one that is there already is left": (A, B, {"team": "b"}, {}),
}


@pytest.mark.parametrize(("before", "after", "found", "wanted"), LABELS.values(), ids=LABELS.keys())
def test_of_the_labels_of_a_node(
    before: dict[str, Any], after: dict[str, Any], found: dict[str, str], wanted: dict[str, Any]
) -> None:
    step = written(later(before, after, labels=found))
    assert step.labels == wanted
    assert step.taints is None
    assert step.unschedulable is None


# Taints

T, U = {"taints": [SOFT]}, {"taints": [SOFT | {"value": "bank"}]}
TAINTS: dict[str, tuple[dict[str, Any], dict[str, Any], list[Any], list[str] | None]] = {
    "a new one is set": ({}, T, [], ["team=shop:NoSchedule"]),
    "a changed one is changed": (T, U, [SOFT], ["team=bank:NoSchedule"]),
    "one that is out is taken off": (T, {}, [SOFT], []),
    "one that throws pods out is taken off": ({"taints": [HARD]}, {}, [HARD], []),
    "others stay": ({}, T, [FOREIGN], ["gpu:NoSchedule", "team=shop:NoSchedule"]),
    "one that a person has changed stays": (T, U, [SOFT | {"value": "mine"}], None),
    "one that is there already is left": (T, U, [SOFT | {"value": "bank"}], None),
}


@pytest.mark.parametrize(("before", "after", "found", "wanted"), TAINTS.values(), ids=TAINTS.keys())
def test_of_the_taints_of_a_node(
    before: dict[str, Any], after: dict[str, Any], found: list[Any], wanted: list[str] | None
) -> None:
    step = written(later(before, after, taints=found))
    texts = None if step.taints is None else [taint.text for taint in step.taints]
    assert texts == wanted
    assert not step.labels


def test_a_taint_that_throws_pods_out_is_never_set_on_a_node_in_use() -> None:
    given = later({}, {"taints": [HARD]})
    assert writes(given) == []
    assert drifted(given)


def test_until_its_node_is_replaced_a_taint_with_another_value_stays_as_it_was() -> None:
    given = later({"taints": [HARD]}, {"taints": [HARD | {"value": "bank"}]}, taints=[HARD])
    assert writes(given) == []
    assert drifted(given)


# Who is left alone


def paused(given: World) -> World:
    pauses = {"default": Pause(cause=PauseCause.POOL, message="")}
    brakes = replace(given.ledger.brakes, pauses=pauses)
    return given.remembering(replace(given.ledger, brakes=brakes))


CHANGED = later({}, A)
BUSY = frozenset({subject(NAME)})
ALONE: dict[str, World] = {
    "nothing has changed": later(A, A, labels={"team": "a"}),
    "only what new nodes need has changed": later({}, {"startupTaints": [SOFT], "weight": 3}),
    "its pool is paused": paused(CHANGED),
    "it is on its way out": msgspec.structs.replace(CHANGED, removals={NAME: removal()}),
    "it is on its way in": later({}, A, taints=[COMING]),
    "something is being done with it": msgspec.structs.replace(CHANGED, busy=BUSY),
}


@pytest.mark.parametrize("given", ALONE.values(), ids=ALONE.keys())
def test_a_node_is_not_written_while(given: World) -> None:
    assert writes(given) == []


def test_nodes_of_a_pool_that_goes_are_not_written() -> None:
    given = later({}, A)
    going = given.pools["default"]
    metadata = going.metadata.model_copy(update={"deletion_timestamp": "2026-01-01T00:00:00Z"})
    pools = {"default": going.model_copy(update={"metadata": metadata})}
    assert writes(msgspec.structs.replace(given, pools=pools)) == []


# All together

values = st.sampled_from(("x", "y"))
some_labels = st.dictionaries(st.sampled_from(("a", "b", "c")), values)
some_taints = st.dictionaries(
    st.tuples(st.sampled_from(("a", "b")), st.sampled_from(("NoSchedule", "NoExecute"))), values
).map(
    lambda found: [
        {"key": key, "effect": effect, "value": value} for (key, effect), value in found.items()
    ]
)


@examples(
    before=st.tuples(some_labels, some_taints),
    after=st.tuples(some_labels, some_taints),
    found=st.tuples(some_labels, some_taints),
)
def test_one_write_is_enough_and_throws_no_pod_out(before: Any, after: Any, found: Any) -> None:
    first, then = ({"labels": labels, "taints": taints} for labels, taints in (before, after))
    given = later(first, then, labels=found[0], taints=found[1])
    steps = writes(given)

    assert len(steps) <= 1
    for step in steps:
        done = carried_out(given, step)
        assert writes(done) == []
        there = set(given.cluster.nodes[NAME].spec.taints)
        new = set(done.cluster.nodes[NAME].spec.taints) - there
        assert all(taint.effect != "NoExecute" for taint in new)
        assert drifted(done) == drifted(given)
        # Nothing goes that our own writing doesn't know.
        gone = there - set(done.cluster.nodes[NAME].spec.taints)
        assert gone <= {Taint(each["key"], each["effect"], each["value"]) for each in before[1]}
        assert set(done.cluster.nodes[NAME].labels) >= OURS


def test_what_is_written_tells_the_next_change_from_what_others_do() -> None:
    step = written(later({}, A))
    text = step.annotations[TEMPLATE_ANNOTATION]
    made = read_blueprint(text or "")
    assert made is not None
    assert made.labels == {"team": "a"}
