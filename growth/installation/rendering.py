"""The objects of an installation: the shipped manifests with the chosen options."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import yaml

from growth.api.installed import NAMESPACE
from growth.installation.places import NAMESPACE_PART, PARTS, at, places_of, put
from growth.installation.shipped import manifests, shipped_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from growth.installation.places import ManifestPart, When
    from growth.installation.shipped import Object
    from growth.installation.values import InstallationValues


def rendered(values: InstallationValues, *, namespace: str = NAMESPACE) -> list[Object]:
    """All objects except the definitions, in the order in which they are applied."""
    chosen = values.document()
    parts = (NAMESPACE_PART, *(part for part in PARTS if applies(part.when, chosen)))
    shipped = [item for part in parts for item in part_objects(part)]
    words = {NAMESPACE: namespace, **digested(shipped)}
    items = [renamed(item, words) for item in shipped]
    # Last, because an option such as a registry's path may contain one of the words to replace.
    for item in items:
        for place in places_of(item):
            value = at(chosen, place.value.split("."))
            put(item, place.path, str(value) if place.is_text else value)
    return items


def applies(when: Iterable[When], chosen: dict[str, Any]) -> bool:
    """Whether all conditions are true."""
    return all(chosen[each.value] == each.equals for each in when)


def part_objects(part: ManifestPart) -> Iterator[Object]:
    """The objects of a part as shipped; for a kustomization, the ConfigMaps that it generates."""
    path = manifests() / part.file
    if path.name != "kustomization.yaml":
        yield from shipped_objects(path)
        return
    for wanted in yaml.safe_load(path.read_text("utf-8"))["configMapGenerator"]:
        yield _config_map(wanted, path.parent)


def _config_map(wanted: dict[str, Any], folder: Path) -> Object:
    data = {name: (folder / name).read_text("utf-8") for name in wanted["files"]}
    metadata = {"name": wanted["name"], "namespace": wanted["namespace"]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def digested(items: Iterable[Object]) -> dict[str, str]:
    """The names of ConfigMaps with a digest of their content, so that pods restart on a change.

    kustomize does the same with another digest, which makes no difference.
    """
    maps = (
        item for item in items if item["kind"] == "ConfigMap" and "labels" not in item["metadata"]
    )
    return {each["metadata"]["name"]: _digested_name(each) for each in maps}


def _digested_name(config_map: Object) -> str:
    content = repr(sorted(config_map["data"].items())).encode()
    return f"{config_map['metadata']['name']}-{hashlib.sha256(content).hexdigest()[:10]}"


def renamed(value: Any, words: Mapping[str, str]) -> Any:
    """The same with words replaced everywhere: in names, expressions and addresses."""
    match value:
        case str():
            for word, other in words.items():
                value = value.replace(word, other)
            return value
        case dict():
            return {key: renamed(each, words) for key, each in value.items()}
        case list():
            return [renamed(each, words) for each in value]
        case _:
            return value
