"""What the objects of admission are called, for those who make them and those who look for them."""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "growth-system"
"""Where growth itself runs."""
SERVICE: Final = "growth-webhooks"
"""The Service in front of the webhook processes."""
CONFIGURATION: Final = "growth-webhooks"
"""The MutatingWebhookConfiguration."""
WEBHOOK: Final = "pods.growth.dev"
"""The one webhook in it."""
POLICY: Final = "pods.growth.dev"
"""The MutatingAdmissionPolicy, and its binding."""
PATH: Final = "/mutate-pods"
"""Where reviews of pods are posted."""
LABELS: Final = {
    "app.kubernetes.io/name": "growth",
    "app.kubernetes.io/component": "webhooks",
    "app.kubernetes.io/part-of": "growth",
}
