"""What growth's own objects are called in a cluster, each name in one place.

The manifests say the same names: one test holds the two together, another one keeps these names
from being written a second time elsewhere.
"""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "growth-system"
"""The namespace of an installation, as the manifests call it; `-n` puts another in its place."""

# A process, its Deployment or DaemonSet, its ServiceAccount, its role and its Service share a name.

RECONCILER: Final = "growth-reconciler"
"""Buys machines and gives them back; one of its replicas leads."""

WEBHOOKS: Final = "growth-webhooks"
"""Admits pods. Its MutatingWebhookConfiguration has this name too."""

EXTENDER: Final = "growth-extender"
"""Runs beside kube-scheduler."""

SCHEDULER: Final = "growth-scheduler"
"""A second scheduler, with an extender of its own, where the control plane is managed."""

WORKLOADS: Final = {
    RECONCILER: "deployments",
    WEBHOOKS: "deployments",
    EXTENDER: "daemonsets",
    SCHEDULER: "deployments",
}
"""What runs growth: name -> resource."""

NAME_LABEL: Final = "app.kubernetes.io/name"
"""On everything that is installed: `growth`."""

COMPONENT_LABEL: Final = "app.kubernetes.io/component"
"""Beside it: which part of growth this is."""

RECONCILER_LEASE: Final = RECONCILER
"""The reconciler that holds it acts."""

SCHEDULER_CONFIGURATION: Final = "growth-scheduler-configuration"
"""The ConfigMap of the second scheduler; behind it stands a digest of its content."""

ADMISSION_POLICY: Final = "pods.growth.dev"
"""The MutatingAdmissionPolicy, its binding, and the one webhook where a webhook admits."""

PAUSE_CONFIG_MAP: Final = "growth-pause"
"""While it is there, every pool is paused."""

# Secrets

OWN_AUTHORITY_SECRET: Final = "growth-ca"  # noqa: S105 - a name
SCHEDULER_AUTHORITY_SECRET: Final = "growth-scheduler-ca"  # noqa: S105 - a name
WEBHOOKS_TLS_SECRET: Final = f"{WEBHOOKS}-tls"
EXTENDER_TLS_SECRET: Final = f"{EXTENDER}-tls"
RECONCILER_TLS_SECRET: Final = f"{RECONCILER}-tls"
VERBS_TLS_SECRET: Final = f"{EXTENDER}-verbs-tls"
