"""What the commands' tests share on a real control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.live import wait_until
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from tests.live import LiveCluster


@pytest.fixture
def alone(defined: LiveCluster) -> LiveCluster:
    """The same, once no pod is left in it of tests that are over: they would be planned for too."""

    def is_over() -> bool:
        namespaces = defined.get("namespaces")["items"]
        ending = {
            each["metadata"]["name"]
            for each in namespaces
            if "deletionTimestamp" in each["metadata"]
        }
        pods = defined.get("pods", "--all-namespaces")["items"]
        return not any(each["metadata"]["namespace"] in ending for each in pods)

    wait_until(is_over, "the end of other tests' pods")
    return defined


@pytest.fixture(scope="session")
def defined(cluster: LiveCluster) -> LiveCluster:
    """The cluster with growth's kinds in it, which is done once."""
    install_definitions(cluster)
    return cluster
