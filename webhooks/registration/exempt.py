"""Which pods are never sent: selectors and conditions that both ways of admission have.

The process applies the same rule once more (`webhooks.admission`), since a registration can be
written by hand.
"""

from __future__ import annotations

from typing import Any, Final

from growth.api.installed import NAMESPACE
from growth.api.wellknown import ADMISSION_DISABLED, ADMISSION_LABEL
from growth.scheduling.pod import MIRROR_ANNOTATION

KUBE_SYSTEM: Final = "kube-system"

_NOT_DISABLED: Final = {
    "key": ADMISSION_LABEL,
    "operator": "NotIn",
    "values": [ADMISSION_DISABLED],
}

RULE: Final[dict[str, Any]] = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
    "scope": "Namespaced",
}
"""Pods, at their creation. Their subresources are others, and so never meant."""

# Equivalent costs nothing, as pods have one version only, and is what other webhooks have.
MATCH_POLICY: Final = "Equivalent"

NAMESPACES: Final[dict[str, Any]] = {
    "matchExpressions": [
        {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": [KUBE_SYSTEM, NAMESPACE],
        },
        _NOT_DISABLED,
    ]
}
"""All but those without which neither the cluster nor we could start, and those that opt out."""

PODS: Final[dict[str, Any]] = {"matchExpressions": [_NOT_DISABLED]}
"""All but those that opt out."""


def _controlled_by(kind: str) -> str:
    owners = "object.metadata.?ownerReferences.orValue([])"
    return f"{owners}.exists(o, o.kind == '{kind}' && o.?controller.orValue(false))"


CONDITIONS: Final[list[dict[str, str]]] = [
    {"name": "has-no-node", "expression": "object.spec.?nodeName.orValue('') == ''"},
    {"name": "is-not-of-a-daemon-set", "expression": f"!{_controlled_by('DaemonSet')}"},
    {
        "name": "is-not-a-mirror",
        "expression": (
            f"!('{MIRROR_ANNOTATION}' in object.metadata.?annotations.orValue({{}}))"
            f" && !{_controlled_by('Node')}"
        ),
    },
]
"""In CEL; all must hold. The cheapest comes first."""
