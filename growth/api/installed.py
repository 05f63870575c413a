"""The names of growth's own objects in a cluster, each in one place.

The manifests contain the same names: one test compares them, and another one makes sure that these
names aren't written elsewhere.
"""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "growth-system"
"""The namespace of an installation in the manifests; `-n` replaces it."""

# A process, its Deployment or DaemonSet, ServiceAccount, role and Service have the same name.

RECONCILER: Final = "growth-reconciler"
"""Buys machines and gives them back; one of its replicas leads."""

WEBHOOKS: Final = "growth-webhooks"
"""Admits pods. Its MutatingWebhookConfiguration has the same name."""

CERTS: Final = "growth-certs"
"""Creates and renews the certificates of the others."""

EXTENDER: Final = "growth-extender"
"""Runs next to kube-scheduler."""

SCHEDULER: Final = "growth-scheduler"
"""A second scheduler with its own extender, for managed control planes."""

WORKLOADS: Final = {
    RECONCILER: "deployments",
    WEBHOOKS: "deployments",
    CERTS: "deployments",
    EXTENDER: "daemonsets",
    SCHEDULER: "deployments",
}
"""The workloads of growth: name -> resource."""

NAME_LABEL: Final = "app.kubernetes.io/name"
"""On all installed objects: `growth`."""

COMPONENT_LABEL: Final = "app.kubernetes.io/component"
"""On all installed objects: the part of growth."""

RECONCILER_LEASE: Final = RECONCILER
"""The Lease whose holder acts."""

SCHEDULER_CONFIGURATION: Final = "growth-scheduler-configuration"
"""The ConfigMap of the second scheduler; a digest of its content is appended."""

ADMISSION_POLICY: Final = "pods.growth.dev"
"""The MutatingAdmissionPolicy, its binding, and the webhook, if a webhook admits pods."""

PAUSE_CONFIG_MAP: Final = "growth-pause"
"""While it exists, every pool is paused."""

METRICS_READER: Final = "growth-metrics-reader"
"""The ClusterRole that lets a Prometheus read metrics, if it is bound to its ServiceAccount."""

# Secrets

OWN_AUTHORITY_SECRET: Final = "growth-ca"  # noqa: S105 - a name
SCHEDULER_AUTHORITY_SECRET: Final = "growth-scheduler-ca"  # noqa: S105 - a name
WEBHOOKS_TLS_SECRET: Final = f"{WEBHOOKS}-tls"
EXTENDER_TLS_SECRET: Final = f"{EXTENDER}-tls"
RECONCILER_TLS_SECRET: Final = f"{RECONCILER}-tls"
VERBS_TLS_SECRET: Final = f"{EXTENDER}-verbs-tls"
