"""The pods that are exempt from admission: selectors and conditions for both registrations.

The process checks the same again (`webhooks.admission`), because people can write their own
registration.
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
"""The creation of pods, without subresources."""

# The default of the API. Pods have only one version, so it makes no difference.
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
"""All namespaces except those that the cluster or growth needs to start, and those that opt out."""

PODS: Final[dict[str, Any]] = {"matchExpressions": [_NOT_DISABLED]}
"""All pods except those that opt out."""


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
"""CEL conditions that must all be true; the cheapest comes first."""
