"""The CustomResourceDefinitions, generated from the models into `manifests/crds`.

They have one version, no conversion webhook, status as a subresource (and scale, where a
number can be set), and columns for `kubectl get`
that answer "what is it doing".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.kinds import FLEET_KINDS, KINDS, SIZING_KINDS
from growth.api.meta import PrinterColumn
from growth.api.model import model_within
from growth.api.schema import structural_schema
from growth.api.wellknown import GROUP, VERSION
from growth.readable_yaml import readable_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.meta import CustomResource

_AGE: Final = PrinterColumn("Age", "date", ".metadata.creationTimestamp")
_READY: Final = PrinterColumn("Ready", "string", '.status.conditions[?(@.type=="Ready")].status')
_BLOCKED: Final = PrinterColumn("Blocked", "string", ".status.blocked.reason")

OWNED_BY_THE_API_SERVER: Final = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def columns_of(model: type[CustomResource]) -> tuple[PrinterColumn, ...]:
    """The columns of `kubectl get` for a kind."""
    status = model_within(model.model_fields["status"].annotation)
    can_be_blocked = status is not None and "blocked" in status.model_fields
    return (*model.columns, *((_READY, _BLOCKED) if can_be_blocked else ()), _AGE)


def definitions() -> dict[str, dict[str, Any]]:
    """Kind -> CustomResourceDefinition."""
    return {kind: definition(model) for kind, model in KINDS.items()}


def definition(model: type[CustomResource]) -> dict[str, Any]:
    """The CustomResourceDefinition of one kind."""
    plural, singular, short = model.kind_names
    kind = model.__name__
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": model.definition_name()},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": singular,
                "shortNames": [short],
                "categories": ["growth"],
            },
            "scope": "Namespaced" if model.is_namespaced else "Cluster",
            "versions": [_version(model)],
        },
    }


def _version(model: type[CustomResource]) -> dict[str, Any]:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}} | _scale(model),
        "additionalPrinterColumns": [
            {"name": each.heading, "type": each.type, "jsonPath": each.path}
            for each in columns_of(model)
        ],
        "schema": {"openAPIV3Schema": structural_schema(model, given=OWNED_BY_THE_API_SERVER)},
    }


def _scale(model: type[CustomResource]) -> dict[str, Any]:
    if (paths := model.scale) is None:
        return {}
    return {
        "scale": {
            "specReplicasPath": paths.wanted,
            "statusReplicasPath": paths.present,
            "labelSelectorPath": paths.selector,
        }
    }


def definition_files() -> dict[str, str]:
    """File name -> YAML, for manifests/crds."""
    return _files(KINDS)


def fleet_definition_files() -> dict[str, str]:
    """File name -> YAML, for manifests/fleet/crds."""
    return _files(FLEET_KINDS)


def sizing_definition_files() -> dict[str, str]:
    """File name -> YAML, for manifests/sizing/crds."""
    return _files(SIZING_KINDS)


def _files(kinds: Mapping[str, type[CustomResource]]) -> dict[str, str]:
    return {
        f"{GROUP}_{model.kind_names[0]}.yaml": readable_yaml(definition(model))
        for model in kinds.values()
    }
