"""The API paths of objects of the kinds that we install.

The kinds are known, so no discovery is needed. So an object also has a path if its kind isn't
installed yet, for example one of the Prometheus operator.
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
    "FlowSchema": "flowschemas",
    "Lease": "leases",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkpolicies",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PriorityClass": "priorityclasses",
    "PriorityLevelConfiguration": "prioritylevelconfigurations",
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
    """The path of an object's collection."""
    version, namespace = item["apiVersion"], item["metadata"].get("namespace")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{within}/{_PLURALS[item['kind']]}"


def object_path(item: Object) -> str:
    """The path of an object."""
    return f"{collection_of(item)}/{item['metadata']['name']}"


def title_of(item: Object) -> str:
    """The kind and name of an object."""
    return f"{item['kind']} {item['metadata']['name']}"
