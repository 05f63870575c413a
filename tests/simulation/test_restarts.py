"""Our process ends at a point of a story, and the story ends as it would have.

The story is the one that is told to the real process on a real control plane, 30 pods of 3 shapes,
and its points bear the same names there (tests/thread/test_every_point.py).
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.wellknown import INSTANCE_TYPE_LABEL
from reconciler.effects.points import is_stable
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.story import Story
from tests.simulation import today
from tests.stories.simulated import pending
from tests.thread import thirty

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.simulation.auditor import AuditBreach

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
UNTIL = 60.0
"""Virtual seconds; a restart and its stable interval take a few."""
READ: dict[str, Callable[[Any], Any]] = {
    "NodePool": NodePool.model_validate,
    "KwokNodeClass": KwokNodeClass.model_validate,
}
POINTS = 2 * (10 * 30 + 1)
"""Before and after eight effects for each machine and two for its pool, and the plan of all."""


class Telling(NamedTuple):
    """What came of one."""

    end: thirty.End
    breach: AuditBreach | None
    points: tuple[str, ...]
    hash: str


def told(kill: str = "") -> Telling:
    living = Living(msgspec.structs.replace(CALM, kill=kill), SimulatedJoining.AT_ONCE)
    for kind, made in given():
        living.server.create(kind, made)
    living.lives.begin()
    for document in thirty.pods():
        living.server.create("pods", pending(document))
    living.timeline.run(UNTIL)
    return Telling(
        end_of(living),
        living.auditor.found,
        tuple(living.lives.points),
        living.around.trace.hash,
    )


def end_of(living: Living) -> thirty.End:
    found = {
        kind: living.server.kind(kind).objects.values() for kind in ("nodes", "pods", "NodeRequest")
    }
    types = {node.name: node.labels[INSTANCE_TYPE_LABEL] for node in found["nodes"]}
    requests = {request.name for request in found["NodeRequest"]}
    bound = (types.get(pod.spec.node_name, "nowhere") for pod in found["pods"])
    return thirty.End(Counter(types.values()), frozenset(types.keys() ^ requests), Counter(bound))


@cache
def given() -> list[tuple[str, Any]]:
    return [(each["kind"], READ[each["kind"]](each)) for each in thirty.furniture()]


def assert_converges(*, every: int) -> None:
    undisturbed = told()
    assert undisturbed.end.machines == undisturbed.end.bound == dict.fromkeys(thirty.SHAPES, 10)
    assert not undisturbed.end.unknown
    points = [name for name in undisturbed.points if is_stable(name)]
    assert len(points) == POINTS
    tried = points[today.turn() % every :: every]
    for name in tried:
        killed = told(kill=name)
        assert killed.hash != undisturbed.hash
        assert (killed.end, killed.breach) == (undisturbed.end, None), f"ended at {name}"
    sys.stdout.write(f"{len(tried)} points, {len(tried)} converged\n")


def test_a_process_that_ends_at_a_point_converges_to_the_same_end() -> None:
    """Each day at others: after a month at all."""
    assert_converges(every=31)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_process_that_ends_at_any_point_converges_to_the_same_end() -> None:
    assert_converges(every=1)
