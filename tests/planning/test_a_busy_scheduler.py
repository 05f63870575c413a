"""A scheduler that binds one pod after the other is at work: the others are waited for longer."""

from __future__ import annotations

from reconciler.planning.nominations import Nominated, Nomination, carried_on
from tests.reconciler.build import at, pool, request, waiting, world
from tests.removal.build import NAME, node

WAIT = 15.0


def places(*, bound_at: tuple[float, ...], until: float) -> int:
    """How many of those who wait for a node, that serves from 100 on, are left at a moment.

    Others who were promised it are bound one at each of these moments.
    """
    pods = [waiting(f"web-{number}") for number in range(2)]
    others = [waiting(f"bound-{number}") for number in range(len(bound_at))]
    kept = Nominated(
        places={
            pod.metadata.uid: Nomination(machine=NAME, shape=pod.shape, is_bought_for=True)
            for pod in (*pods, *others)
        }
    )
    bought = request(NAME, status={"phase": "Ready"})
    for moment in sorted({100.0, *bound_at, until}):
        left = others[sum(each <= moment for each in bound_at) :]
        seen = world(node(), *pods, *left, bought, pool())
        kept = carried_on(kept, seen, {}, at(moment))
    return len(kept.places)


def test_a_scheduler_that_binds_nobody_has_its_wait_and_no_more() -> None:
    assert places(bound_at=(), until=100 + WAIT - 1) == 2
    assert places(bound_at=(), until=100 + WAIT) == 0


def test_each_pod_that_it_binds_begins_the_wait_anew() -> None:
    assert places(bound_at=(110, 120), until=120 + WAIT - 1) == 2
    assert places(bound_at=(110, 120), until=120 + WAIT) == 0


def test_it_is_not_waited_for_without_end() -> None:
    assert places(bound_at=tuple(range(105, 170, 5)), until=100 + 5 * WAIT) == 0
