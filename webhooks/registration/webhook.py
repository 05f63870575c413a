"""The MutatingWebhookConfiguration: how and when the API server calls us.

It is made to do no harm. `Ignore` and a timeout of two seconds limit the effect of a webhook that
is down. `IfNeeded` calls again if another webhook has changed the pod after us, so the rule may run
twice. The CA of our certificate isn't in this manifest: `certs` adds it later.
"""

from __future__ import annotations

from typing import Any, Final

from growth.api.installed import ADMISSION_POLICY, NAMESPACE, WEBHOOKS
from webhooks.registration import exempt, names

TIMEOUT: Final = 2
"""Seconds. A review takes a millisecond, so an answer that is late won't come."""


def configuration() -> dict[str, Any]:
    """The configuration object."""
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
