"""Turns the writes of the rule into changes of objects, and creates the new keys for them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, assert_never

import msgspec
from typing_extensions import override

from certs.making import make_authority, make_leaf
from certs.reading import (
    ASKED,
    BUNDLE,
    CERTIFICATE,
    GROWTH,
    KEPT_BY,
    KEY,
    NEXT_CERTIFICATE,
    NEXT_KEY,
    PREVIOUS_CERTIFICATE,
    SETTLED,
)
from certs.state import AuthoritySecret, LeafSecret
from certs.steps import Introduce, Issue, Make, Promote, Retire, Settle, Spread
from growth.api.written import write_time
from growth.kube.writes import Decided

if TYPE_CHECKING:
    from datetime import datetime

    from certs.issued import Issued, Pair
    from certs.steps import Inject, OfSecret
    from certs.wanted import Policy

_Data: TypeAlias = Mapping[str, bytes | None]
_Notes: TypeAlias = Mapping[str, str | None]
_Change: TypeAlias = tuple[AuthoritySecret | LeafSecret, _Data, _Notes]

_NEITHER: Final[_Notes] = {SETTLED: None, ASKED: None}
_NO_NEXT: Final[_Data] = {NEXT_CERTIFICATE: None, NEXT_KEY: None}


class SecretChange(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a Secret; None removes an entry."""

    name: str
    decided: Decided | None
    data: _Data
    annotations: _Notes

    @override
    def __repr__(self) -> str:
        """Without the data, which includes keys."""
        return f"SecretChange({self.name!r})"

    def new(self, namespace: str) -> dict[str, Any]:
        """The complete Secret, if there is none yet."""
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {
                "name": self.name,
                "namespace": namespace,
                "labels": {KEPT_BY: GROWTH, "app.kubernetes.io/part-of": GROWTH},
            },
            "data": {key: text for key, text in self._texts.items() if text is not None},
        }

    def patch(self) -> dict[str, Any]:
        """A merge patch for an existing Secret."""
        return {"metadata": {"annotations": self.annotations}, "data": self._texts}

    @property
    def _texts(self) -> dict[str, str | None]:
        return {
            key: None if content is None else base64.b64encode(content).decode()
            for key, content in self.data.items()
        }


def operations(write: Inject) -> list[dict[str, Any]]:
    """The JSON patch of a configuration, which changes only its bundles."""
    value = base64.b64encode(write.bundle).decode()
    return [
        {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": value}
        for index in range(len(write.configuration.bundles))
    ]


def secret_change(write: OfSecret, *, policy: Policy, now: datetime) -> SecretChange:
    """The change of a Secret that a write makes."""
    secret, data, annotations = _change(write, policy, now)
    return SecretChange(
        name=secret.wanted.name, decided=secret.decided, data=data, annotations=annotations
    )


def _change(write: OfSecret, policy: Policy, now: datetime) -> _Change:
    change: _Change
    match write:
        case Make(authority, lost):
            coming = _authority(authority, policy=policy, now=now)
            change = authority, _made(coming, lost), _NEITHER
        case Introduce(authority):
            coming = _authority(authority, policy=policy, now=now)
            change = authority, _next(coming), _NEITHER
        case Promote(authority):
            change = authority, _promoted(authority), _NEITHER
        case Retire(authority):
            change = authority, {PREVIOUS_CERTIFICATE: None}, {SETTLED: None}
        case Settle(authority):
            change = authority, {}, {SETTLED: write_time(now)}
        case Issue(leaf, _, bundle):
            pair = _leaf(write, policy=policy, now=now)
            change = leaf, {**_current(pair), BUNDLE: bundle}, {ASKED: None}
        case Spread(leaf, bundle):
            change = leaf, {BUNDLE: bundle}, {}
        case _:
            assert_never(write)
    return change


def _made(coming: Pair, lost: Issued | None) -> _Data:
    """The data of a new authority: a first one signs at once, another must be trusted first."""
    # A lost authority stays the current one, without its key, until the new one is trusted.
    if lost is None:
        return {**_current(coming), **_NO_NEXT, PREVIOUS_CERTIFICATE: None}
    return {CERTIFICATE: lost.pem, KEY: b"", **_next(coming), PREVIOUS_CERTIFICATE: None}


def _promoted(authority: AuthoritySecret) -> _Data:
    assert authority.next is not None  # noqa: S101 - the rule promotes what is there
    assert authority.current is not None  # noqa: S101 - one that is missing is made instead
    retiring = {PREVIOUS_CERTIFICATE: authority.current.pem}
    return {**_current(authority.next), **_NO_NEXT, **retiring}


def _authority(secret: AuthoritySecret, *, policy: Policy, now: datetime) -> Pair:
    wanted = secret.wanted
    return make_authority(wanted.name, begin=now - policy.backdate, end=now + wanted.life)


def _leaf(write: Issue, *, policy: Policy, now: datetime) -> Pair:
    leaf = write.leaf
    return make_leaf(
        leaf.wanted.name,
        under=write.under,
        usage=leaf.wanted.usage,
        names=leaf.names,
        begin=now - policy.backdate,
        end=min(now + policy.leaf_life, write.under.certificate.end),
    )


def _current(pair: Pair) -> _Data:
    return {CERTIFICATE: pair.certificate.pem, KEY: pair.key.reveal()}


def _next(pair: Pair) -> _Data:
    return {NEXT_CERTIFICATE: pair.certificate.pem, NEXT_KEY: pair.key.reveal()}
