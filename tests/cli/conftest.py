"""What the commands' tests share on a real control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from tests.live import LiveCluster


@pytest.fixture(scope="session")
def defined(cluster: LiveCluster) -> LiveCluster:
    """The cluster with growth's kinds in it, which is done once."""
    install_definitions(cluster)
    return cluster
