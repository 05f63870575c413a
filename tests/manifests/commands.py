"""The command `growth` as a person gives it, against a cluster of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.cli.__main__ import main

if TYPE_CHECKING:
    from tests.live import LiveCluster


def grow(cluster: LiveCluster, *words: str) -> int:
    """Its exit code."""
    command, *rest = words
    return main([command, "--kubeconfig", str(cluster.kubeconfig), *rest])
