"""The Secrets in the cluster: API tokens and templates to read, join tokens to create.

A Secret in use is read again every few seconds, so a replaced token takes effect without a restart.
No value read here ever appears in an error or a log line.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from growth.api.joining import JoinApproval, token_id
from growth.errors import Misconfigured
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import AlreadyExists, NotFound, Refused
from reconciler.providers.hetzner.bootstrap import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import timedelta

    from growth.api.hetznernodeclass import HetznerNodeClass
    from growth.api.meta import KeyReference
    from growth.instant import Instant
    from growth.kube.transport import Connection
    from reconciler.providers.port import Order

FRESH_FOR = 10.0
"""Seconds for which a value is cached."""


class ClusterSecrets:
    """The Secrets of the cluster that growth manages."""

    def __init__(
        self,
        connection: Connection,
        *,
        now: Callable[[], Instant],
        token_life: Callable[[Order], timedelta],
        done: Callable[[], Iterable[str]] = tuple,
        approval: JoinApproval = JoinApproval.CLUSTER,
    ) -> None:
        self._approval = approval
        self._done = done
        """Uids of requests whose machine has joined, or never will."""
        self._withdrawn: frozenset[str] = frozenset()
        self._connection = connection
        self._now = now
        self._token_life = token_life
        self._known: dict[KeyReference, tuple[float, str]] = {}

    async def read(self, reference: KeyReference) -> str:
        """The value of a key of a Secret."""
        now = self._now().monotonic
        read_at, value = self._known.get(reference, (float("-inf"), ""))
        if now - read_at < FRESH_FOR:
            return value
        where = f"Secret {reference.namespace}/{reference.name}"
        try:
            data = await self._data(reference.namespace, reference.name)
        except NotFound:
            self._known.pop(reference, None)
            raise Misconfigured(
                f"{where} doesn't exist: create it with the key {reference.key}"
            ) from None
        value = _value(data, reference.key, where=where)
        self._known[reference] = now, value
        return value

    async def join_token(self, order: Order, node_class: HetznerNodeClass) -> str:
        """The token of this order: the one from an earlier try, or a new one."""
        token = tokens.minted(order.request_uid, choose=secrets.choice)
        body = tokens.token_secret(
            token,
            request_name=order.name,
            request_uid=order.request_uid,
            kind=node_class.spec.bootstrap.kind,
            expires_at=self._now().wall + self._token_life(order),
            approval=self._approval,
        )
        try:
            await self._connection.request("POST", _path(tokens.NAMESPACE), body=body)
        except AlreadyExists:
            try:
                return await self._prolonged(token, body["stringData"]["expiration"])
            except Refused:
                # The API server lets no token live longer than a day. No machine has used it.
                await self._withdraw(order.request_uid)
                await self._connection.request("POST", _path(tokens.NAMESPACE), body=body)
        return token.text

    async def withdraw_join_tokens(self) -> None:
        """Delete the tokens that machines no longer need, before they expire."""
        done = frozenset(self._done())
        self._withdrawn &= done
        for uid in sorted(done - self._withdrawn):
            await self._withdraw(uid)
            self._withdrawn |= {uid}

    async def _withdraw(self, request_uid: str) -> None:
        name = tokens.secret_name(token_id(request_uid))
        # If the token has expired, Kubernetes' token cleaner may have been first.
        with suppress(NotFound):
            await self._connection.request("DELETE", f"{_path(tokens.NAMESPACE)}/{name}")

    async def _prolonged(self, token: tokens.JoinToken, expiration: str) -> str:
        """The token of an earlier try, extended to the expiration of a new one."""
        # Patched and not read: growth has no right to read Secrets in kube-system, and the answer
        # to a patch contains the whole Secret.
        answer = await self._connection.request(
            "PATCH",
            f"{_path(tokens.NAMESPACE)}/{token.secret_name}",
            body={"stringData": {"expiration": expiration}},
            content_type=MERGE_PATCH,
        )
        where = f"Secret {tokens.NAMESPACE}/{token.secret_name}"
        secret = _value(answer.json().get("data") or {}, "token-secret", where=where)
        return tokens.JoinToken(id=token.id, secret=secret).text

    async def _data(self, namespace: str, name: str) -> Mapping[str, Any]:
        answer = await self._connection.request("GET", f"{_path(namespace)}/{name}")
        data: Mapping[str, Any] = answer.json().get("data") or {}
        return data


def _path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/secrets"


def _value(data: Mapping[str, Any], key: str, *, where: str) -> str:
    if key not in data:
        raise Misconfigured(f"{where} has no key {key}: add it") from None
    try:
        return base64.b64decode(data[key], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Misconfigured(f"{where}: key {key} isn't valid text: write it again") from None
