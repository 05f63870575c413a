"""The generated definitions: as they lie in manifests/, and as the real API server takes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from growth.api.crd import definitions, render
from growth.api.kinds import KINDS
from growth.api.reference import page
from tests.api.server import DEFINITIONS

if TYPE_CHECKING:
    from tests.api.server import ApiServer

ROOT = Path(__file__).parents[2]
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_files_in_manifests_are_what_the_models_say() -> None:
    found = {path.name: path.read_text() for path in (ROOT / "manifests/crds").glob("growth.dev_*")}

    assert found == render(), "make crds writes them anew"


def test_the_reference_page_is_what_the_models_say() -> None:
    assert (ROOT / "docs/reference/objects.md").read_text() == page(), "make crds writes it anew"


@every_kind
def test_a_definition_passes_kubernetes_own_schema(kind: str) -> None:
    kubernetes_validate.validate(definitions()[kind], "1.36", strict=True)


@every_kind
def test_a_definition_is_cluster_scoped_and_is_never_converted(kind: str) -> None:
    spec = definitions()[kind]["spec"]

    assert spec["scope"] == "Cluster"
    assert "conversion" not in spec
    assert spec["names"]["categories"] == ["growth"]
    assert [version["subresources"] for version in spec["versions"]] == [{"status": {}}]


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


@pytest.mark.parametrize("name", render())
def test_rendered_text_is_the_definition(name: str) -> None:
    document = yaml.safe_load(render()[name])

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
def test_a_new_definition_warns_of_nothing(kind: str, api_server: ApiServer) -> None:
    document = definitions()[kind]
    fresh = document | {"metadata": {"name": document["metadata"]["name"]}}

    answer = api_server.ask(
        "PUT",
        f"{DEFINITIONS}/{fresh['metadata']['name']}?dryRun=All",
        {
            **fresh,
            "metadata": fresh["metadata"] | {"resourceVersion": current(api_server, fresh)},
        },
    )

    assert answer.accepted, answer.body
    assert answer.warnings == ()


def current(api_server: ApiServer, document: dict[str, dict[str, str]]) -> str:
    name = document["metadata"]["name"]
    found: str = api_server.ask("GET", f"{DEFINITIONS}/{name}").body["metadata"]["resourceVersion"]
    return found


@pytest.mark.cluster
@every_kind
def test_no_rule_and_no_default_was_lost_on_the_way(kind: str, api_server: ApiServer) -> None:
    ours = definitions()[kind]

    stored = api_server.ask("GET", f"{DEFINITIONS}/{ours['metadata']['name']}").body

    assert stored["spec"]["versions"][0]["schema"] == ours["spec"]["versions"][0]["schema"]
