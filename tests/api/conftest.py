"""The definitions on the real API server, once for all tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.crd import definitions
from tests.api.server import DEFINITIONS, ApiServer
from tests.live import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def api_server(cluster: Any) -> Iterator[ApiServer]:
    """The API server with our definitions, established."""
    with ApiServer(cluster.kubeconfig) as server:
        for document in definitions().values():
            answer = server.apply_definition(document)
            assert answer.accepted, answer.body
        for document in definitions().values():
            wait_until_established(server, document["metadata"]["name"])
        yield server


def wait_until_established(server: ApiServer, name: str) -> None:
    """Return when objects of the kind can be created."""
    path = f"{DEFINITIONS}/{name}"
    wait_until(lambda: _established(server.ask("GET", path).body), f"{name} is established")


def _established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions", [])
    return ("Established", "True") in [(each["type"], each["status"]) for each in conditions]
