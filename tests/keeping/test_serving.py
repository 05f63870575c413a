"""Whether a node serves: by its taints, and only once its record is there."""

from __future__ import annotations

from growth.keeping.believing import believed
from growth.keeping.serving import serves
from tests.provisioning.build import UNREGISTERED, node
from tests.reconciler.build import record


def test_a_node_that_has_just_joined_does_not_serve_whether_its_record_is_there_or_not() -> None:
    joined = node(taints=[UNREGISTERED])
    assert not serves(believed(joined, record(joined.name)), None)
    assert not serves(believed(joined, None), None)


def test_a_node_without_taints_serves() -> None:
    assert serves(believed(node(taints=[]), None), None)
