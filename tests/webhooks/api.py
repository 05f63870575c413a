"""Registrations for a server on loopback, in some namespaces."""

from __future__ import annotations

import base64
from typing import Any

Document = dict[str, Any]

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def webhook_at(
    configuration: Document, url: str, *, authority: bytes, namespaces: tuple[str, ...]
) -> Document:
    """The shipped configuration, but for a server on loopback and for some namespaces only.

    And patient: on a machine that does much else, two seconds may pass without an answer.
    """
    [webhook] = configuration["webhooks"]
    client = {"url": url, "caBundle": base64.b64encode(authority).decode()}
    selector = only_in(namespaces, webhook["namespaceSelector"])
    changed = {"clientConfig": client, "namespaceSelector": selector, "timeoutSeconds": 30}
    return {**configuration, "webhooks": [{**webhook, **changed}]}


def only_in(namespaces: tuple[str, ...], selector: Document) -> Document:
    """A selector of namespaces, narrowed."""
    here = {
        "key": "kubernetes.io/metadata.name",
        "operator": "In",
        "values": list(namespaces),
    }
    return {"matchExpressions": [*selector["matchExpressions"], here]}
