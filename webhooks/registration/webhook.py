"""The MutatingWebhookConfiguration: how and when the API server asks us.

Everything in it is there to be harmless. `Ignore` and two seconds bound what a webhook that is away
can cost. `IfNeeded` asks again when another webhook has changed the pod after us, which is why the
rule may be applied twice. The CA of our certificate is not written here: `certs` puts it in.
"""

from __future__ import annotations

from typing import Any, Final

from growth.api.installed import ADMISSION_POLICY, NAMESPACE, WEBHOOKS
from webhooks.registration import exempt, names

TIMEOUT: Final = 2
"""Seconds. A review takes a millisecond; what takes longer is not going to come."""


def configuration() -> dict[str, Any]:
    """The object to be applied."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": WEBHOOKS, "labels": names.LABELS},
        "webhooks": [
            {
                "name": ADMISSION_POLICY,
                "admissionReviewVersions": ["v1"],
                "clientConfig": {
                    "service": {
                        "namespace": NAMESPACE,
                        "name": WEBHOOKS,
                        "path": names.PATH,
                        "port": 443,
                    }
                },
                "rules": [exempt.RULE],
                "matchPolicy": exempt.MATCH_POLICY,
                "namespaceSelector": exempt.NAMESPACES,
                "objectSelector": exempt.PODS,
                "matchConditions": exempt.CONDITIONS,
                "failurePolicy": "Ignore",
                "timeoutSeconds": TIMEOUT,
                "sideEffects": "None",
                "reinvocationPolicy": "IfNeeded",
            }
        ],
    }
