"""The manifests of both registrations of admission, for manifests/base."""

from __future__ import annotations

from growth.readable_yaml import readable_documents
from webhooks.registration.policy import binding, policy
from webhooks.registration.webhook import configuration


def registration_files() -> dict[str, str]:
    """File name -> YAML."""
    return {
        "webhook.yaml": readable_documents([configuration()]),
        "admission-policy.yaml": readable_documents([policy(), binding()]),
    }
