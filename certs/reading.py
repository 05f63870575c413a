"""Reads the objects of the API server into the state that the rule decides on.

Invalid content is treated like missing content, and is replaced.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from certs.issued import read_certificate, read_certificates, read_pair
from certs.state import AuthoritySecret, Configuration, LeafSecret
from growth.foreign_text import time_or_none
from growth.kube.cache.resource import Key
from growth.kube.writes import Decided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from certs.wanted import WantedAuthority, WantedLeaf

KEPT_BY: Final = "app.kubernetes.io/managed-by"
"""The label with the manager of an object. Without it, a Secret isn't ours, whatever its name."""
GROWTH: Final = "growth"
SETTLED: Final = "growth.dev/settled-at"
ASKED: Final = "growth.dev/rotate"

CERTIFICATE, KEY, BUNDLE = "tls.crt", "tls.key", "ca.crt"
NEXT_CERTIFICATE, NEXT_KEY = "next.crt", "next.key"
PREVIOUS_CERTIFICATE = "previous.crt"

Object = dict[str, Any]


def read_authority(found: Object | None, wanted: WantedAuthority) -> AuthoritySecret:
    """The state of an authority's Secret; `found` is None if it doesn't exist."""
    data = _data(found)
    settled = _annotations(found).get(SETTLED)
    return AuthoritySecret(
        wanted=wanted,
        decided=_decided(found),
        ours=_is_ours(found),
        current=read_certificate(data.get(CERTIFICATE, b"")),
        pair=read_pair(data.get(CERTIFICATE, b""), data.get(KEY, b"")),
        next=read_pair(data.get(NEXT_CERTIFICATE, b""), data.get(NEXT_KEY, b"")),
        previous=read_certificate(data.get(PREVIOUS_CERTIFICATE, b"")),
        settled_at=time_or_none(settled),
        asked=ASKED in _annotations(found),
    )


def read_leaf(found: Object | None, wanted: WantedLeaf, *, namespace: str) -> LeafSecret:
    """The state of a leaf's Secret; `found` is None if it doesn't exist."""
    data = _data(found)
    bundle = data.get(BUNDLE, b"")
    return LeafSecret(
        wanted=wanted,
        decided=_decided(found),
        ours=_is_ours(found),
        pair=read_pair(data.get(CERTIFICATE, b""), data.get(KEY, b"")),
        bundle=bundle,
        trusted=read_certificates(bundle),
        names=wanted.names(namespace),
        asked=ASKED in _annotations(found),
    )


def read_configuration(found: Object) -> Configuration:
    """The authorities that the API server trusts when it calls these webhooks."""
    decided = _decided(found)
    assert decided is not None  # noqa: S101 - it was found
    bundles = tuple(
        base64.b64decode(webhook["clientConfig"].get("caBundle") or "")
        for webhook in found.get("webhooks") or ()
    )
    return Configuration(
        name=found["metadata"]["name"],
        decided=decided,
        bundles=bundles,
        trusted=tuple(issued for bundle in bundles for issued in read_certificates(bundle)),
    )


def _decided(found: Object | None) -> Decided | None:
    if found is None:
        return None
    metadata = found["metadata"]
    key = Key(metadata.get("namespace", ""), metadata["name"])
    return Decided(key, metadata["uid"], metadata["resourceVersion"])


def _is_ours(found: Object | None) -> bool:
    """Whether growth manages it; a missing Secret is ours to create."""
    labels = {} if found is None else found["metadata"].get("labels") or {}
    return found is None or labels.get(KEPT_BY) == GROWTH


def _annotations(found: Object | None) -> Mapping[str, str]:
    return {} if found is None else found["metadata"].get("annotations") or {}


def _data(found: Object | None) -> Mapping[str, bytes]:
    data = {} if found is None else found.get("data") or {}
    return {key: base64.b64decode(value or "") for key, value in data.items()}
