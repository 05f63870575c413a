"""The CustomResourceDefinitions, made from the models; `manifests/crds` holds them.

One version, no conversion webhook, status as a subresource, and columns that answer "what is it
doing" in `kubectl get`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml
from typing_extensions import override

from growth.api.kinds import KINDS, NODE_CLASSES
from growth.api.schema import structural_schema
from growth.api.wellknown import GROUP, VERSION

if TYPE_CHECKING:
    from growth.api.meta import CustomResource

_AGE: Final = ("Age", "date", ".metadata.creationTimestamp")
_READY: Final = ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status')
_BLOCKED: Final = ("Blocked", "string", ".status.blocked.reason")

_OWNED_BY_THE_API_SERVER: Final = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}

COLUMNS: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "NodePool": (
        ("Nodes", "integer", ".status.ready"),
        ("Wanted", "integer", ".status.wanted"),
        ("PerHour", "string", ".status.hourlyCost"),
        _READY,
        _BLOCKED,
        _AGE,
    ),
    "NodeRequest": (
        ("Pool", "string", ".spec.pool"),
        ("Phase", "string", ".status.phase"),
        ("Type", "string", ".spec.serverType"),
        ("Location", "string", ".spec.location"),
        ("PerHour", "string", ".spec.price"),
        ("Node", "string", ".status.nodeName"),
        _AGE,
    ),
    "NodeRemovalRequest": (
        ("Pool", "string", ".spec.pool"),
        ("Phase", "string", ".status.phase"),
        ("Reason", "string", ".spec.reason"),
        ("Attempts", "integer", ".status.removalAttempt"),
        ("Tried", "date", ".status.removeAttemptedAt"),
        _AGE,
    ),
    **{name: (*kind.columns, _READY, _BLOCKED, _AGE) for name, kind in NODE_CLASSES.items()},
}
"""Columns of `kubectl get`: heading, type, where the value is."""


def definitions() -> dict[str, dict[str, Any]]:
    """Kind -> its CustomResourceDefinition."""
    return {kind: definition(model) for kind, model in KINDS.items()}


def definition(model: type[CustomResource]) -> dict[str, Any]:
    """The CustomResourceDefinition of one kind."""
    plural, singular, short = model.kind_names
    kind = model.__name__
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
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
            "scope": "Cluster",
            "versions": [_version(model)],
        },
    }


def _version(model: type[CustomResource]) -> dict[str, Any]:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path}
            for name, kind, path in COLUMNS[model.__name__]
        ],
        "schema": {"openAPIV3Schema": structural_schema(model, given=_OWNED_BY_THE_API_SERVER)},
    }


def definition_files() -> dict[str, str]:
    """File name -> YAML, for manifests/crds."""
    return {
        f"{GROUP}_{model.kind_names[0]}.yaml": _yaml(definition(model)) for model in KINDS.values()
    }


def _yaml(document: dict[str, Any]) -> str:
    return yaml.dump(document, Dumper=_Plain, sort_keys=False, width=100, allow_unicode=True)


class _Plain(yaml.SafeDumper):
    """Without anchors: each part of a definition can be read where it is."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True
