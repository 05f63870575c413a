"""Where objects of the kinds that we install are in the API.

Only these kinds occur, so nobody has to be asked; and what isn't installed yet (a definition of the
Prometheus operator, say) has its address all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from growth.installation.shipped import Object

_PLURALS: Final = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "CustomResourceDefinition": "customresourcedefinitions",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "Lease": "leases",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkpolicies",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PriorityClass": "priorityclasses",
    "PrometheusRule": "prometheusrules",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "ServiceMonitor": "servicemonitors",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}


def collection_of(item: Object) -> str:
    """The path of the collection that an object is in."""
    version, namespace = item["apiVersion"], item["metadata"].get("namespace")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{within}/{_PLURALS[item['kind']]}"


def object_path(item: Object) -> str:
    """The path of an object."""
    return f"{collection_of(item)}/{item['metadata']['name']}"


def title_of(item: Object) -> str:
    """Its kind and name."""
    return f"{item['kind']} {item['metadata']['name']}"
