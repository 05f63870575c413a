"""`growth convert --from vpsie`: NodeGroups become pools with the policy Desired.

What a group says about the place and the image of its machines belongs to growth's node class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.vpsie_nodegroup import VpsieGroupSpec, is_managed_group
from growth.cli.converted import (
    ConvertedObject,
    Json,
    Remark,
    left_out,
    part_of,
    pool_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from growth.api.yaml_text import YamlDocument

API_GROUP: Final = "autoscaler.vpsie.com/"
_OF_CLASS: Final = "no counterpart in a pool: how machines are created is in the node class"
_TOLD: Final = {
    "datacenterID": "no counterpart: name regions of your provider in locations",
    "offeringIDs": "the types of --server-types took their place; the first available is bought",
    "kubernetesVersion": _OF_CLASS,
    "osImageID": _OF_CLASS,
    "sshKeyIDs": _OF_CLASS,
    "project": _OF_CLASS,
    "resourceIdentifier": _OF_CLASS,
    "tags": _OF_CLASS,
    "notes": "no counterpart",
    "spotConfig": "no counterpart",
    "multiRegion": "no counterpart: name all regions in locations",
    "costOptimization": "no counterpart: this policy buys the first available type",
    "allowMixedInstances": "no counterpart: to have one type only, name only one",
}
_TAKEN: Final = frozenset(
    {"minNodes", "maxNodes", "preferredInstanceType", "labels", "taints", "scaleUpBatchSize"}
    | {"scaleUpPolicy", "scaleDownPolicy"}
)
_UP_TOLD: Final = {
    "enabled": "no counterpart: pending pods always raise the number, up to maxNodes",
    "stabilizationWindowSeconds": "no counterpart: growth waits until bought nodes serve",
    "cpuThreshold": "no counterpart: pending pods raise the number, and not measured use",
    "memoryThreshold": "no counterpart: pending pods raise the number, and not measured use",
}
_DOWN: Final = {
    "cpuThreshold": "cpuUtilizationThreshold",
    "memoryThreshold": "memoryUtilizationThreshold",
}
_DOWN_SECONDS: Final = {
    "stabilizationWindowSeconds": "underutilizationDuration",
    "cooldownSeconds": "scaleDownCooldown",
}


def pools_of_vpsie(
    document: YamlDocument, types: Sequence[str]
) -> tuple[ConvertedObject, ...] | None:
    """A pool for a NodeGroup; None if the document is none."""
    data = document.data
    if not isinstance(data, dict) or data.get("kind") != "NodeGroup":
        return None
    if not str(data.get("apiVersion", "")).startswith(API_GROUP):
        return None
    return (_pool(data, types),)


def _pool(old: Json, types: Sequence[str]) -> ConvertedObject:
    metadata, spec = part_of(old, "metadata"), part_of(old, "spec")
    name = str(metadata.get("name", ""))
    title = f'NodeGroup "{name}"'
    try:
        group = msgspec.convert(spec, VpsieGroupSpec)
    except msgspec.ValidationError as error:
        return ConvertedObject(title, (), {}, problems=(str(error),))
    if problems := tuple(group.problems):
        return ConvertedObject(title, (), {}, problems=problems)
    is_managed = is_managed_group(part_of(metadata, "labels"))
    fields = {
        "labels": part_of(spec, "labels"),
        "taints": spec.get("taints"),
        "mode": None if is_managed else "Observe",
        "scaling": {"policy": "Desired", "desired": _desired(old, group, types)},
    }
    pool = pool_document(name, types=types, most=group.most, fields=fields)
    remarks = tuple(_remarks(spec, group, types, is_managed=is_managed))
    return ConvertedObject(title, (), pool, remarks)


def _desired(old: Mapping[str, Any], group: VpsieGroupSpec, types: Sequence[str]) -> Json:
    spec, status = part_of(old, "spec"), part_of(old, "status")
    down = part_of(spec, "scaleDownPolicy")
    found = {
        "minNodes": group.least,
        "maxNodes": group.most,
        "desiredNodes": status.get("desiredNodes"),
        "scaleUpBatchSize": spec.get("scaleUpBatchSize"),
        "preferredInstanceType": group.preferred if group.preferred in types else None,
        "scaleDownPolicy": "Disabled" if down.get("enabled") is False else None,
        **{new: down[name] for name, new in _DOWN.items() if name in down},
        **{new: f"{down[name]}s" for name, new in _DOWN_SECONDS.items() if name in down},
    }
    return {name: value for name, value in found.items() if value is not None}


def _remarks(
    spec: Mapping[str, Any], group: VpsieGroupSpec, types: Sequence[str], *, is_managed: bool
) -> Iterator[Remark]:
    yield from left_out(spec, _TOLD, _TAKEN, at=("spec",))
    up, down = part_of(spec, "scaleUpPolicy"), part_of(spec, "scaleDownPolicy")
    yield from left_out(up, _UP_TOLD, (), at=("spec", "scaleUpPolicy"))
    known = {"enabled", *_DOWN, *_DOWN_SECONDS}
    yield from left_out(down, {}, known, at=("spec", "scaleDownPolicy"))
    if group.preferred and group.preferred not in types:
        yield Remark(
            ("spec", "preferredInstanceType"),
            f"preferredInstanceType: {group.preferred} isn't one of --server-types; the first "
            "available of these is bought",
        )
    if not is_managed:
        yield Remark(
            ("metadata", "labels"),
            "labels: without autoscaler.vpsie.com/managed=true the group wasn't scaled, so the "
            "pool has mode: Observe; remove it to act",
        )
