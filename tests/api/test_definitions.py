"""The generated definitions: as they lie in manifests/, and as the real API server takes them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from generators.objects import objects_page
from growth.api.crd import definition_files, definitions
from growth.api.kinds import KINDS
from tests.api.cases import case
from tests.api.server import DEFINITIONS

if TYPE_CHECKING:
    from tests.api.server import ApiServer

ROOT = Path(__file__).parents[2]
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_files_in_manifests_are_what_the_models_say() -> None:
    found = {path.name: path.read_text() for path in (ROOT / "manifests/crds").glob("growth.dev_*")}

    assert found == definition_files(), "make crds writes them anew"


def test_the_reference_page_is_what_the_models_say() -> None:
    assert (ROOT / "docs/reference/objects.md").read_text() == objects_page(), (
        "make crds writes it anew"
    )


@every_kind
@pytest.mark.parametrize("version", ["1.31", "1.36"])
def test_a_definition_passes_kubernetes_own_schema(kind: str, version: str) -> None:
    kubernetes_validate.validate(definitions()[kind], version, strict=True)


@every_kind
def test_a_definition_is_cluster_scoped_and_is_never_converted(kind: str) -> None:
    spec = definitions()[kind]["spec"]

    assert spec["scope"] == "Cluster"
    assert "conversion" not in spec
    assert spec["names"]["categories"] == ["growth"]
    scales = {"status", "scale"} if kind == "NodePool" else {"status"}
    assert [version["subresources"].keys() for version in spec["versions"]] == [scales]


@every_kind
def test_every_field_is_described(kind: str) -> None:
    assert list(undescribed(definitions()[kind]["spec"]["versions"][0]["schema"], kind)) == []


def undescribed(node: object, path: str) -> list[str]:
    if not isinstance(node, dict):
        return []
    fields = node.get("properties", {})
    missing = [
        f"{path}.{name}"
        for name, field in fields.items()
        if "description" not in field and name not in {"apiVersion", "kind", "metadata"}
    ]
    return missing + [
        found for name, each in node.items() for found in undescribed(each, f"{path}.{name}")
    ]


@pytest.mark.parametrize("name", definition_files())
def test_rendered_text_is_the_definition(name: str) -> None:
    document = yaml.safe_load(definition_files()[name])

    assert document == definitions()[document["spec"]["names"]["kind"]]


@pytest.mark.cluster
@every_kind
def test_installing_a_definition_again_warns_of_nothing_and_changes_nothing(
    kind: str, api_server: ApiServer
) -> None:
    name = definitions()[kind]["metadata"]["name"]
    before = api_server.ask("GET", f"{DEFINITIONS}/{name}").body["metadata"]

    again = api_server.apply_definition(definitions()[kind])

    assert again.accepted
    assert again.warnings == ()
    assert again.body["metadata"]["resourceVersion"] == before["resourceVersion"]
    assert again.body["metadata"]["generation"] == before["generation"]


@pytest.mark.cluster
@every_kind
def test_the_rules_cost_a_sixteenth_of_what_they_may(kind: str, api_server: ApiServer) -> None:
    """The dearest grow with the square of a list's length, so lists of four times the length
    pass."""
    wide = widened(definitions()[kind])
    stored = api_server.ask("GET", f"{DEFINITIONS}/{wide['metadata']['name']}").body
    wide["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]

    answer = api_server.ask("PUT", f"{DEFINITIONS}/{wide['metadata']['name']}?dryRun=All", wide)

    assert answer.accepted, answer.body
    assert answer.warnings == ()


def widened(node: Any) -> Any:
    """The schema with four times as many entries in each list and map."""
    if isinstance(node, list):
        return [widened(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        name: each * 4 if name in {"maxItems", "maxProperties"} else widened(each)
        for name, each in node.items()
    }


@pytest.mark.cluster
def test_a_pool_of_every_type_costs_the_api_server_little(api_server: ApiServer) -> None:
    """The rules run at each write, of the status too: comparing all with all took 130 times as
    long."""
    small, large = (case(name).document for name in ("the smallest pool", "256 types"))

    # By turns, so that both have the same chance of a quiet moment of the machine.
    tries = [(seconds(api_server, small), seconds(api_server, large)) for _ in range(12)]
    fastest_small, fastest_large = (min(each) for each in zip(*tries, strict=True))

    assert fastest_large / fastest_small < 30


def seconds(api_server: ApiServer, document: dict[str, Any]) -> float:
    start = time.perf_counter()
    assert api_server.try_to_create(document).accepted
    return time.perf_counter() - start


@pytest.mark.cluster
@every_kind
def test_no_rule_and_no_default_was_lost_on_the_way(kind: str, api_server: ApiServer) -> None:
    ours = definitions()[kind]

    stored = api_server.ask("GET", f"{DEFINITIONS}/{ours['metadata']['name']}").body

    assert stored["spec"]["versions"][0]["schema"] == ours["spec"]["versions"][0]["schema"]
