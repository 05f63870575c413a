"""A node is Ready, and the control plane hasn't taken its own taints away: it has room already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.scheduling.taints import NO_SCHEDULE, Taint
from reconciler.planning.capacity import ground
from reconciler.planning.nominations import Nominated
from tests.reconciler.build import pool, request, world
from tests.removal.build import NAME, node

if TYPE_CHECKING:
    from growth.scheduling.node import Node

NOT_READY = Taint("node.kubernetes.io/not-ready", NO_SCHEDULE)
OF_SOMEBODY = Taint("example.com/keep-off", NO_SCHEDULE)


def tainted(taint: Taint, *, ready: bool = True) -> Node:
    found = node(ready=ready)
    spec = msgspec.structs.replace(found.spec, taints=(taint,))
    return msgspec.structs.replace(found, spec=spec)


@pytest.mark.parametrize(
    ("there", "spots"),
    [(tainted(NOT_READY), 1), (tainted(NOT_READY, ready=False), 0), (tainted(OF_SOMEBODY), 1)],
    ids=["Ready, and tainted still", "not Ready", "served, and tainted by a person"],
)
def test_whether_a_node_whose_request_is_ready_has_room(there: Node, spots: int) -> None:
    known = world(there, request(NAME, status={"phase": "Ready"}), pool())
    found = ground(known, known.requests, Nominated(), ()).spots
    assert len(found) == spots
    assert all(NOT_READY not in spot.node.spec.taints for spot in found)
