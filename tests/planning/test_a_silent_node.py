"""A node falls silent while a pod waits for it: the pod waits on, and the loop rests."""

from __future__ import annotations

import msgspec

from reconciler.core.decision import NEVER
from reconciler.planning.nominations import Nominated, Nomination, carried_on, next_nomination_end
from tests.reconciler.build import at, pool, request, waiting, world
from tests.removal.build import NAME, node


def test_the_wait_for_a_node_begins_anew_when_it_is_heard_of_again() -> None:
    """It ended in the past while the node was silent, and the loop span until it was back."""
    pod, bought = waiting(), request(NAME, status={"phase": "Ready"})
    place = Nomination(machine=NAME, shape=pod.shape, is_bought_for=True, since=80.0)
    before = Nominated(places={pod.metadata.uid: place})
    silent = world(node(ready=False), pod, bought, pool())
    kept = carried_on(before, silent, silent.requests, at(100))
    assert next_nomination_end(kept, silent) == NEVER
    back = world(node(), pod, bought, pool())
    back = msgspec.structs.replace(back, pending=silent.pending)
    assert next_nomination_end(carried_on(kept, back, back.requests, at(200)), back) == 215
