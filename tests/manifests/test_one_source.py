"""kustomize, `growth install` and Helm mean the same, and the API server knows every field."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.api.deletion_cost import PodDeletionCost
from growth.api.joining import JoinApproval
from growth.installation.places import PARTS
from growth.installation.rendering import part_objects, rendered
from growth.installation.values import (
    Admission,
    InstallationValues,
    ProviderChoice,
    SchedulerChoice,
)
from tests.live import ROOT
from tests.manifests.reading import SYSTEM, Object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.live import LiveCluster

MANIFESTS = ROOT / "manifests"
OVERLAYS = {
    "kwok": InstallationValues(provider=ProviderChoice.KWOK),
    "hetzner": InstallationValues(provider=ProviderChoice.HETZNER),
}


def by_title(items: Iterable[Object]) -> dict[str, Object]:
    """Objects by kind and name, without what each way chooses by itself: tags and digests."""
    plain = json.loads(
        re.sub(r"(growth-scheduler-configuration)-\w{10}", r"\1", json.dumps([*items]))
    )
    return {f"{each['kind']}/{each['metadata']['name']}": untagged(each) for each in plain}


def untagged(value: Any) -> Any:
    match value:
        case {"image": str(image), **rest}:
            return {"image": re.sub(r":[^/]*$", "", image), **untagged(rest)}
        case dict():
            return {key: untagged(each) for key, each in value.items()}
        case list():
            return [untagged(each) for each in value]
        case _:
            return value


@pytest.mark.cluster
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_is_what_growth_installs(bare: LiveCluster, overlay: str) -> None:
    kustomized = yaml.safe_load_all(
        bare.kubectl("kustomize", str(MANIFESTS / "overlays" / overlay))
    )

    assert by_title(kustomized) == by_title(rendered(OVERLAYS[overlay]))


@pytest.mark.cluster
def test_the_second_scheduler_comes_on_top(bare: LiveCluster) -> None:
    folder = MANIFESTS / "overlays" / "second-scheduler"
    kustomized = by_title(yaml.safe_load_all(bare.kubectl("kustomize", str(folder))))
    without = by_title(rendered(InstallationValues()))
    with_it = by_title(rendered(InstallationValues(scheduler=SchedulerChoice.SECOND)))

    assert with_it == without | kustomized
    assert not without.keys() & kustomized.keys()
    # kustomize renames what a ConfigMap's name is, in roles too.
    [role] = [each for title, each in kustomized.items() if title == "Role/growth-scheduler"]
    assert role["rules"][1]["resourceNames"] == ["growth-scheduler"]


@pytest.mark.cluster
def test_the_api_server_knows_every_field(installed: LiveCluster) -> None:
    everything = [
        *rendered(
            InstallationValues(
                scheduler=SchedulerChoice.SECOND,
                join_approval=JoinApproval.GROWTH,
                pod_deletion_cost=PodDeletionCost.BY_NODE,
            )
        ),
        *rendered(InstallationValues(provider=ProviderChoice.KWOK, admission=Admission.POLICY)),
    ]
    strict = (
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "--validate=strict",
    )

    taken = installed.kubectl(*strict, "-f", "-", input=yaml.safe_dump_all(everything))

    assert taken.count("serverside-applied (server dry run)") == len(everything)


def test_every_file_of_manifests_is_part_of_an_installation() -> None:
    apart = {"kustomization.yaml", "scheduler-configuration.yaml", "namespace.yaml"}
    files = {
        str(path.relative_to(MANIFESTS))
        for folder in ("base", "overlays", "monitoring")
        for path in (MANIFESTS / folder).rglob("*.yaml")
        if path.name not in apart
    }

    assert files <= {part.file for part in PARTS}


def test_another_namespace_is_meant_everywhere() -> None:
    elsewhere = rendered(InstallationValues(scheduler=SchedulerChoice.SECOND), namespace="machines")

    assert SYSTEM not in json.dumps(elsewhere)
    assert "system:serviceaccount:machines:growth-reconciler" in json.dumps(elsewhere)


def test_an_image_of_a_persons_own_keeps_its_name_in_another_namespace() -> None:
    image = f"registry.example/{SYSTEM}/servers:1"
    values = InstallationValues.model_validate({"images": {"servers": image, "reconciler": image}})

    elsewhere = rendered(values, namespace="machines")

    assert json.dumps(elsewhere).count(SYSTEM) == json.dumps(elsewhere).count(image) == 4


def test_another_content_of_a_configuration_has_another_name() -> None:
    [part] = [each for each in PARTS if each.file.endswith("kustomization.yaml")]
    [shipped] = part_objects(part)
    [made] = [
        each
        for each in rendered(InstallationValues(scheduler=SchedulerChoice.SECOND))
        if each["kind"] == "ConfigMap" and each["data"] == shipped["data"]
    ]
    name = made["metadata"]["name"]

    assert re.fullmatch(r"growth-scheduler-configuration-[0-9a-f]{10}", name)
    assert (
        json.dumps(rendered(InstallationValues(scheduler=SchedulerChoice.SECOND))).count(name) == 2
    )
