"""A cluster of its own: what is installed here would ask about the pods of every other test."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from growth.api import crd
from growth.installation.rendering import rendered
from growth.installation.values import Provider, Values
from tests.live import bring_down, bring_up, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster


@pytest.fixture(scope="session")
def bare() -> Iterator[LiveCluster]:
    """A cluster with nothing of growth in it."""
    name = f"growth-test-{os.getpid()}-manifests"
    try:
        yield bring_up(name)
    finally:
        bring_down(name)


@pytest.fixture(scope="session")
def installed(bare: LiveCluster) -> LiveCluster:
    """The same with everything that the overlay for KWOK brings; its pods are simulated."""
    bare.kubectl("apply", "--server-side", "-f", "-", input="---\n".join(crd.render().values()))
    bare.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=20s")
    items = rendered(Values(provider=Provider.KWOK))
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    strict = ("--server-side", "--validate=strict", "-f", "-")
    bare.kubectl("apply", *strict, input=json.dumps(listed))
    default = ("get", "serviceaccount", "default", "--namespace", "default")
    wait_until(lambda: bare.try_kubectl(*default).returncode == 0, "the service account")
    return bare
