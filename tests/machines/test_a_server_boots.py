"""From a pod to a server that really boots, joins, runs it, and is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.machines.needs import skip_where_missing
from tests.machines.sites import machine_site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cluster


def test_a_pod_runs_on_a_server_that_boots_and_is_given_back(tmp_path: Path) -> None:
    skip_where_missing()
    with machine_site("boots", tmp_path) as place:
        place.makes_pool("real")
        place.runs("web", pool="real")

        place.is_running("web")

        machine = place.only_machine()
        node = place.node(machine.name)
        assert node["spec"]["providerID"] == f"hcloud://{machine.id}"
        place.ends()
