"""The benchmark of passes plays what a new leader does: it settles, and searches for savings."""

from __future__ import annotations

from benchmarks.passes import LargeWorld


def test_a_new_leader_searches_once_its_nodes_have_been_quiet() -> None:
    passes = list(LargeWorld(nodes=6, pods=60).passes(seconds=40.0))
    asked = [each for each in passes if "could any of 6 nodes go?" in each.asked]
    assert asked
    assert min(each.at for each in asked) >= 15.0
    assert all("replacement" in each.by_rule for each in asked)
